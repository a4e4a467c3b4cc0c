/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles of OTLP, as one request to a collector (otlp.proto). Each source that has events has a
 * profile with the counts of events. If the events have values, a second profile has the sums of
 * values, since a profile has one type of samples. Samples have the labels of pprof.c as
 * attributes, with OpenTelemetry's names.
 *
 * The size of a message comes before its content, so the encoded samples of each profile are
 * collected in a buffer. Memory grows with the number of distinct samples, not of events.
 *
 * The id of a profile is a hash of its content: a store can recognise a profile that was sent
 * twice.
 *
 * Backends make labels of the attributes of a resource. The resource therefore only has attributes
 * that tell machines and services apart, with OpenTelemetry's names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sha2.h>

#include "array.h"
#include "error.h"
#include "export/otlp.pb-c.h"
#include "export_format.h"
#include "format/json_text.h"
#include "otlp_tables.h"
#include "report/name/cgroup_service.h"
#include "report/name/process_attributes.h"
#include "ring.h"
#include "sample_table.h"
#include "trace/read/names.h"

#define SAMPLES (1U << 17)
#define SECOND 1000000000ULL
#define ID_BYTES 16

#define SAMPLE_ATTRIBUTES_MAX (6 + ATTRIBUTES_MAX)
#define PUBLISHED_KNOWN 4096

enum { PRODUCED, RECORDED, COUNTED_ONLY, LEDGER_ATTRIBUTES = COUNTED_ONLY + 1 + LOST_COUNT };

static const char *const lost_keys[LOST_COUNT] = {
#define X(id, name, meaning) [LOST_##id] = "stackmap.ledger.lost." name,
	LEDGER_LOST(X)
#undef X
};

/* The encoded samples of a source's profile of counts and of its profile of values. */
struct columns {
	struct byte_buffer counts, values;
};

/* The attributes that a process and a thread have published, as numbers of the dictionary. */
struct published {
	struct attribute_numbers from;
	s32 index[ATTRIBUTES_MAX];
	u32 count;
	bool has_service; /* true: the service's name is one of the attributes */
};

struct otlp {
	struct trace_reader *reader;
	const struct export_options *options;
	const struct trace_source *sources;
	u32 source_count;
	struct columns *columns; /* by kind: the encoded samples of each source */
	/* attributes that were read last, since reading takes long; NULL: a free slot
	 * (attribute_numbers_slot()) */
	struct published *published[PUBLISHED_KNOWN];
	struct kept_process kept;
	u64 first, last; /* times of the first and the last event */
	struct event_stacks *stacks;
	struct sample_table *samples;
	struct otlp_tables *tables;
	struct byte_buffer profiles; /* encoded profiles, each preceded by its length */
	s32 ledger[LEDGER_ATTRIBUTES];
	size_t ledger_count;
};

/* The attributes of one sample. */
struct attributes {
	struct otlp_tables *tables;
	s32 index[SAMPLE_ATTRIBUTES_MAX];
	size_t count;
};

static int add_text_attribute(struct attributes *attributes, const char *key, const char *text)
{
	return otlp_text_attribute(attributes->tables, key, text,
				   &attributes->index[attributes->count++]);
}

static int add_number_attribute(struct attributes *attributes, const char *key, s64 number)
{
	return otlp_number_attribute(attributes->tables, key, number,
				     &attributes->index[attributes->count++]);
}

/* True for the keys of the sample's own attributes, which published attributes do not replace. */
static bool is_key_of_sample_attribute(const char *key)
{
	static const char *const keys[] = {"thread.name", "process.pid", "thread.id",
					   "cpu.logical_number", "process.linux.cgroup"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

static int read_published_attributes(struct otlp *otlp, struct published *out)
{
	struct process_attributes attributes;
	int err = event_attributes_read(&otlp->kept, otlp->reader, out->from, &attributes);

	for (u32 i = 0; i < attributes.count && !err; i++) {
		const struct process_attribute *each = &attributes.items[i];
		bool is_service = !strcmp(each->key, "service.name");

		if (is_key_of_sample_attribute(each->key) ||
		    (is_service && otlp->options->identity.service))
			continue;
		out->has_service |= is_service;
		err = otlp_text_attribute(otlp->tables, each->key, each->value,
					  &out->index[out->count++]);
	}
	process_attributes_clear(&attributes);
	return err;
}

/* Returns the attributes; NULL without memory. A process may have any number of samples, and
 * publish a message that takes long to read. */
static const struct published *find_or_read_published_attributes(struct otlp *otlp,
								 struct attribute_numbers from)
{
	struct published **known = &otlp->published[attribute_numbers_slot(from, PUBLISHED_KNOWN)];

	if (*known && !memcmp(&(*known)->from, &from, sizeof(from)))
		return *known;
	free(*known);
	*known = calloc(1, sizeof(**known));
	if (!*known)
		return NULL;
	(*known)->from = from;
	return read_published_attributes(otlp, *known) ? NULL : *known;
}

/* Adds the attributes of process and thread. *has_service: the service is among them. */
static int add_published_attributes(struct otlp *otlp, const struct sample_key *key,
				    struct attributes *attributes, bool *has_service)
{
	const struct trace_context *context = trace_reader_context(otlp->reader, &key->event);
	const struct attribute_numbers from = {key->process, context ? context->attributes : 0};
	const struct published *published;

	if (!from.process)
		return 0;
	published = find_or_read_published_attributes(otlp, from);
	if (!published)
		return -ENOMEM;
	for (u32 i = 0; i < published->count; i++)
		attributes->index[attributes->count++] = published->index[i];
	*has_service = published->has_service;
	return 0;
}

/* A sample of an interrupt belongs to no thread: thread.id and process.pid are left out. The sample
 * has the service that its process has named, or else that of its cgroup, unless the request has a
 * service. */
static int set_sample_attributes(struct otlp *otlp, const struct sample_key *key,
				 struct attributes *attributes)
{
	char room[TRACE_CGROUP_ROOM], service[CGROUP_SERVICE_BYTES];
	const char *cgroup = trace_cgroup_name(otlp->reader, key->cgroup, room);
	bool has_service = false;
	int err = add_text_attribute(attributes, "thread.name",
				     key->comm[0] ? key->comm : "[unknown]");

	if (!err && key->event.tid != TID_INTERRUPT)
		err = add_number_attribute(attributes, "process.pid", key->tgid)
			      ?: add_number_attribute(attributes, "thread.id", key->event.tid);
	err = err ?: add_number_attribute(attributes, "cpu.logical_number", key->event.cpu);
	err = err ?: add_text_attribute(attributes, "process.linux.cgroup", cgroup);
	if (!err && key->event.tid != TID_INTERRUPT)
		err = add_published_attributes(otlp, key, attributes, &has_service);
	if (err || has_service || otlp->options->identity.service || cgroup[0] != '/' ||
	    !cgroup_service_name(cgroup, service))
		return err;
	return add_text_attribute(attributes, "service.name", service);
}

static void put_sample_value(struct byte_buffer *to, Otlp__Sample *message, s64 value)
{
	Otlp__Profile part = OTLP__PROFILE__INIT;

	message->values = &value;
	message->n_values = 1;
	part.samples = &message;
	part.n_samples = 1;
	otlp_encode(to, &part.base);
}

static int put_sample(void *arg, const struct sample *sample)
{
	struct otlp *otlp = arg;
	const struct trace_event *event = &sample->key.event;
	struct columns *columns = &otlp->columns[event->kind];
	Otlp__Sample message = OTLP__SAMPLE__INIT;
	struct attributes attributes = {.tables = otlp->tables};
	const struct trace_context *context = trace_reader_context(otlp->reader, event);
	struct event_stack stack;
	int err = event_stacks_find(otlp->stacks, event, &stack);

	if (!err && !stack.depth) /* a sample needs at least one location */
		err = event_stacks_marker_of_missing_stack(otlp->stacks, event, &stack);
	err = err ?: otlp_stack(otlp->tables, &stack, &message.stack_index);
	err = err ?: set_sample_attributes(otlp, &sample->key, &attributes);
	if (!err && context && context_has_ids(context))
		err = otlp_link(otlp->tables, event->context, &message.link_index);
	if (err)
		return err;
	message.attribute_indices = attributes.index;
	message.n_attribute_indices = attributes.count;
	put_sample_value(&columns->counts, &message, (s64)sample->count);
	if (otlp->sources[event->kind].extras & TRACE_EXTRA_VALUE)
		put_sample_value(&columns->values, &message, (s64)sample->value);
	return 0;
}

static int put_samples(struct otlp *otlp)
{
	int err = sample_table_each(otlp->samples, put_sample, otlp);

	sample_table_empty(otlp->samples);
	return err;
}

static int count_event(void *arg, const struct trace_event *event)
{
	struct otlp *otlp = arg;
	const struct trace_task *task;
	u32 process;
	int err;

	if (!event_filter_passes(&otlp->options->filter, otlp->reader, event))
		return 0;
	otlp->first = otlp->first ?: event->time;
	otlp->last = event->time;
	task = trace_reader_task(otlp->reader, event->tid, event->time);
	process = trace_reader_attribute_numbers(otlp->reader, event, task).process;
	err = sample_table_add(otlp->samples, event, task, process);
	if (err != -ENOSPC)
		return err;
	return put_samples(otlp) ?: sample_table_add(otlp->samples, event, task, process);
}

static int add_ledger_attribute(struct otlp *otlp, const char *key, u64 number)
{
	return otlp_number_attribute(otlp->tables, key, (s64)number,
				     &otlp->ledger[otlp->ledger_count++]);
}

/* Sets the attributes for the ledger of the whole recording, which the filter does not change. */
static int set_ledger_attributes(struct otlp *otlp)
{
	const struct trace_ledger *ledger = trace_reader_ledger(otlp->reader);
	int err;

	if (!ledger)
		return 0;
	err = add_ledger_attribute(otlp, "stackmap.ledger.produced", ledger->produced)
		      ?: add_ledger_attribute(otlp, "stackmap.ledger.recorded", ledger->recorded);
	if (ledger->counted)
		err = err
			      ?: add_ledger_attribute(otlp, "stackmap.ledger.counted_only",
						      ledger->counted);
	for (u32 i = 0; i < LOST_COUNT && !err; i++)
		if (ledger->lost[i])
			err = add_ledger_attribute(otlp, lost_keys[i], ledger->lost[i]);
	return err;
}

static void make_profile_id(const struct otlp *otlp, const char *type,
			    const struct byte_buffer *samples, u8 id[ID_BYTES])
{
	const struct trace_info *info = trace_reader_info(otlp->reader);
	u8 digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX hash;

	SHA256Init(&hash);
	SHA256Update(&hash, (const u8 *)info->hostname, strlen(info->hostname) + 1);
	SHA256Update(&hash, (const u8 *)&info->start_realtime, sizeof(info->start_realtime));
	SHA256Update(&hash, (const u8 *)&otlp->first, sizeof(otlp->first));
	SHA256Update(&hash, (const u8 *)type, strlen(type) + 1);
	SHA256Update(&hash, samples->data, samples->used);
	SHA256Final(digest, &hash);
	memcpy(id, digest, ID_BYTES);
}

static int set_value_type(struct otlp *otlp, const char *type, const char *unit,
			  Otlp__ValueType *message)
{
	return otlp_string(otlp->tables, type, &message->type_strindex)
		       ?: otlp_string(otlp->tables, unit, &message->unit_strindex);
}

/* Appends a profile: its head, then its samples, which are already encoded. */
static int put_profile(struct otlp *otlp, const struct trace_source *source, const char *type,
		       const char *unit, const struct byte_buffer *samples)
{
	const struct trace_info *info = trace_reader_info(otlp->reader);
	Otlp__Profile head = OTLP__PROFILE__INIT;
	Otlp__ValueType sample_type = OTLP__VALUE_TYPE__INIT, period_type = OTLP__VALUE_TYPE__INIT;
	u8 id[ID_BYTES];
	int err = set_value_type(otlp, type, unit, &sample_type);

	/* Sources that are sampled by a clock have a leaf, and get a period. */
	if (!err && info->frequency && source->extras & TRACE_EXTRA_LEAF) {
		head.period_type = &period_type;
		head.period = (s64)(SECOND / info->frequency);
		err = set_value_type(otlp, "cpu", "nanoseconds", &period_type);
	}
	if (err || samples->failed)
		return -ENOMEM;
	make_profile_id(otlp, type, samples, id);
	head.sample_type = &sample_type;
	head.time_unix_nano = info->start_realtime + otlp->first - info->start_monotonic;
	head.duration_nano = otlp->last - otlp->first;
	head.profile_id = (ProtobufCBinaryData){ID_BYTES, id};
	head.attribute_indices = otlp->ledger;
	head.n_attribute_indices = otlp->ledger_count;
	byte_buffer_varint(&otlp->profiles, otlp__profile__get_packed_size(&head) + samples->used);
	otlp_encode(&otlp->profiles, &head.base);
	byte_buffer_append(&otlp->profiles, samples->data, samples->used);
	return 0;
}

static int put_profiles(struct otlp *otlp)
{
	int err = set_ledger_attributes(otlp);

	for (u32 i = 0; i < otlp->source_count && !err; i++) {
		const struct trace_source *source = &otlp->sources[i];
		const struct columns *columns = &otlp->columns[i];
		char *type;

		if (columns->counts.used)
			err = put_profile(otlp, source, source->name, "count", &columns->counts);
		if (err || !columns->values.used)
			continue;
		if (asprintf(&type, "%s_value", source->name) < 0)
			return -ENOMEM;
		err = put_profile(otlp, source, type,
				  value_unit_word(source->value_unit) ?: source->value_unit,
				  &columns->values);
		free(type);
	}
	return err;
}

/* --- the request: the resource (the machine) around the encoded profiles --- */

struct resource {
	Otlp__KeyValue *
		*attributes; /* attributes, which the resource owns with their keys and values */
	size_t count;
	u32 room;
	bool failed;
};

/* A copy of the text with `?` in place of bytes that are not UTF-8. NULL without memory. */
static char *copy_as_utf8(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	json_t *plain = copy ? json_text(copy) : NULL;

	free(copy);
	copy = plain ? strdup(json_string_value(plain)) : NULL;
	json_decref(plain);
	return copy;
}

static void free_resource_attribute(Otlp__KeyValue *attribute)
{
	if (attribute->value)
		free(attribute->value->string_value);
	free(attribute->value);
	free(attribute->key);
	free(attribute);
}

static Otlp__KeyValue *create_resource_attribute(const char *key, size_t key_length,
						 const char *text)
{
	Otlp__KeyValue *attribute = malloc(sizeof(*attribute));

	if (!attribute)
		return NULL;
	otlp__key_value__init(attribute);
	attribute->key = copy_as_utf8(key, key_length);
	attribute->value = malloc(sizeof(*attribute->value));
	if (attribute->value) {
		otlp__any_value__init(attribute->value);
		attribute->value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		attribute->value->string_value = copy_as_utf8(text, strlen(text));
	}
	if (attribute->key && attribute->value && attribute->value->string_value)
		return attribute;
	free_resource_attribute(attribute);
	return NULL;
}

static void add_resource_attribute(struct resource *resource, const char *key, size_t key_length,
				   const char *text)
{
	Otlp__KeyValue *attribute = create_resource_attribute(key, key_length, text);

	if (attribute && !array_make_room(resource->attributes, resource->count, resource->room)) {
		resource->attributes[resource->count++] = attribute;
		return;
	}
	if (attribute)
		free_resource_attribute(attribute);
	resource->failed = true;
}

static void add_nonempty_attribute(struct resource *resource, const char *key, const char *text)
{
	if (text && text[0])
		add_resource_attribute(resource, key, strlen(key), text);
}

/* Encodes the instrumentation scope with all profiles. The message points into `profiles`. */
static int encode_scope(const struct byte_buffer *profiles, const char *version,
			struct byte_buffer *to)
{
	struct byte_cursor cursor = {profiles->data, profiles->data + profiles->used, false};
	Otlp__ScopeProfiles message = OTLP__SCOPE_PROFILES__INIT;
	Otlp__Scope scope = OTLP__SCOPE__INIT;
	u32 room = 0;

	while (byte_cursor_left(&cursor)) {
		size_t bytes = byte_cursor_varint(&cursor);
		const u8 *profile = byte_cursor_read_bytes(&cursor, bytes);

		if (!profile || array_make_room(message.profiles, message.n_profiles, room))
			break;
		message.profiles[message.n_profiles++] =
			(ProtobufCBinaryData){bytes, (u8 *)profile};
	}
	scope.name = (char *)"stackmap";
	scope.version = (char *)version;
	message.scope = &scope;
	if (!byte_cursor_left(&cursor) && !cursor.bad)
		otlp_encode(to, &message.base);
	else
		to->failed = true;
	free(message.profiles);
	return to->failed ? -ENOMEM : 0;
}

static int encode_resource(const struct trace_info *info, const struct export_identity *identity,
			   const struct byte_buffer *scope, struct byte_buffer *to)
{
	Otlp__ResourceProfiles message = OTLP__RESOURCE_PROFILES__INIT;
	Otlp__Resource attributes = OTLP__RESOURCE__INIT;
	struct resource resource = {};
	const char *machine = info->machine;

	if (strcmp(machine, "x86_64") == 0)
		machine = "amd64";
	else if (strcmp(machine, "aarch64") == 0)
		machine = "arm64";
	add_nonempty_attribute(&resource, "host.name", identity->host ?: info->hostname);
	add_nonempty_attribute(&resource, "host.arch", machine);
	add_nonempty_attribute(&resource, "os.type", "linux");
	add_nonempty_attribute(&resource, "os.version", info->kernel);
	add_nonempty_attribute(&resource, "service.name", identity->service);
	add_nonempty_attribute(&resource, "service.version", identity->version);
	for (size_t i = 0; i < identity->labels.count; i++) {
		const char *label = identity->labels.items[i];
		size_t key = strcspn(label, "=");

		add_resource_attribute(&resource, label, key, label[key] ? &label[key + 1] : "");
	}
	attributes.attributes = resource.attributes;
	attributes.n_attributes = resource.count;
	message.resource = &attributes;
	message.scope_profiles = (ProtobufCBinaryData){scope->used, scope->data};
	otlp_encode(to, &message.base);
	for (size_t i = 0; i < resource.count; i++)
		free_resource_attribute(resource.attributes[i]);
	free(resource.attributes);
	return resource.failed || to->failed ? -ENOMEM : 0;
}

static int write_request(const struct trace_reader *reader, const struct export_identity *identity,
			 const struct byte_buffer *profiles, const struct byte_buffer *dictionary,
			 FILE *to)
{
	const struct trace_info *info = trace_reader_info(reader);
	struct byte_buffer scope = {}, resource = {};
	int err = profiles->failed || dictionary->failed ? -ENOMEM : 0;

	if (!err && profiles->used)
		err = encode_scope(profiles, info->version, &scope)
			      ?: encode_resource(info, identity, &scope, &resource);
	if (!err) {
		Otlp__Request message = OTLP__REQUEST__INIT;
		ProtobufCBinaryData encoded = {resource.used, resource.data};

		/* A request without profiles has no resource. */
		message.resource_profiles = &encoded;
		message.n_resource_profiles = resource.used ? 1 : 0;
		message.dictionary = (ProtobufCBinaryData){dictionary->used, dictionary->data};
		export_pack_to_file(&message.base, to);
	}
	byte_buffer_free(&resource);
	byte_buffer_free(&scope);
	return err;
}

static int otlp_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
		      struct stackmap_error *error)
{
	struct otlp otlp = {.reader = reader, .options = options};
	int err = 0;

	otlp.source_count = trace_reader_sources(reader, &otlp.sources);
	otlp.columns = calloc(otlp.source_count + 1UL, sizeof(struct columns));
	if (!otlp.columns || sample_table_create(SAMPLES, true, &otlp.samples) ||
	    event_stacks_create(reader, &options->naming, &otlp.stacks) ||
	    otlp_tables_create(reader, &otlp.tables))
		err = -ENOMEM;
	err = err ?: trace_reader_events(reader, count_event, &otlp, error);
	err = err ?: put_samples(&otlp);
	err = err ?: put_profiles(&otlp);
	err = err
		      ?: write_request(reader, &options->identity, &otlp.profiles,
				       otlp_dictionary(otlp.tables), to);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "otlp: not enough memory");
	for (u32 i = 0; otlp.columns && i < otlp.source_count; i++) {
		byte_buffer_free(&otlp.columns[i].counts);
		byte_buffer_free(&otlp.columns[i].values);
	}
	free(otlp.columns);
	for (u32 i = 0; i < PUBLISHED_KNOWN; i++)
		free(otlp.published[i]);
	kept_process_clear(&otlp.kept);
	byte_buffer_free(&otlp.profiles);
	otlp_tables_free(&otlp.tables);
	event_stacks_free(&otlp.stacks);
	sample_table_free(&otlp.samples);
	return err;
}

const struct export_format otlp_format = {
	.name = "otlp",
	.binary = true,
	.write = otlp_write,
};
