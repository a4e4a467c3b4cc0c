/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile of pprof (profile.proto), in gzip. Each source that has events has a sample type with
 * its name for the number of events. If the events have values, a second sample type is for the sum
 * of values. Samples carry the labels comm, pid, tid, cpu and cgroup.
 *
 * The concatenation of encoded messages is the encoding of one message with all their members, so a
 * file is written as a sequence of profiles with one or two members each. Strings, functions,
 * locations and mappings are written when a sample first refers to them. The sample types must be
 * known before the first sample, so events are read twice. Memory grows with the number of distinct
 * frames, not of events.
 *
 * Every mapping says that it has all names. Otherwise pprof would look into files of that path on
 * its own machine, whatever their build id, and replace the names of the recording.
 *
 * The main program of the recording is the one with most events. A stack belongs to the program of
 * its outermost frames; libraries are skipped, since threads begin in the C library. Events of
 * offcpu-waker do not count, since their tasks are not recorded tasks but those that woke one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "event_stack.h"
#include "export/profile.pb-c.h"
#include "export_format.h"
#include "format/json_text.h"
#include "gzip_stream.h"
#include "intern.h"
#include "ring.h"
#include "sample_table.h"
#include "trace/read/names.h"

#define SAMPLES (1U << 17)
#define SECOND 1000000000ULL
#define WAKER "offcpu-waker"

/* Values of pprof.program_of, which has the main program of each stack. */
#define PROGRAM_NOT_SEARCHED 0
#define PROGRAM_NONE 1
/* this value and higher values: PROGRAM_FIRST + index of the main program's mapping */
#define PROGRAM_FIRST 2

enum { LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_CPU, LABEL_CGROUP, LABELS };
static const char *const label_names[LABELS] = {"comm", "pid", "tid", "cpu", "cgroup"};

/* The set of ids that the file has already. */
struct seen_ids {
	bool *seen;
	u32 room;
};

/* The number of a source's events, and its sample types. */
struct columns {
	u64 events;
	u32 count; /* index of the sample type that counts events; the type of values follows it */
	bool has_values;
};

struct pprof {
	struct trace_reader *reader;
	const struct event_filter *filter;
	bool no_colons; /* true: sample types have "." in place of ":" */
	const struct trace_source *sources;
	u32 source_count;
	struct columns *columns; /* by kind: events and sample types of each source */
	u32 types;
	s64 *values; /* values of a sample: an array of `types` numbers */
	s64 label_keys[LABELS];
	u64 first, last; /* times of the first and the last event */
	u64 *locations;
	u32 room;
	struct event_stacks *event_stacks;
	struct sample_table *samples;
	struct gzip_stream *gzip;
	FILE *to;
	struct text_set strings;
	struct intern functions; /* entries: struct intern_number, ids of functions; key: string
				    indexes of name and file */
	struct seen_ids seen_locations, seen_mappings;

	const struct trace_stack *stacks;
	const struct trace_mapping *mappings;
	u32 mapping_count;
	u32 *program_of;     /* by stack index: the main program, PROGRAM_NOT_SEARCHED... */
	u64 *program_events; /* by index of a mapping: number of events of stacks with this main
				program */
};

struct gzip_append {
	ProtobufCBuffer base; /* first member: protobuf-c gets its address */
	struct gzip_stream *to;
};

static void append_to_gzip(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	gzip_stream_write(((struct gzip_append *)buffer)->to, data, bytes);
}

static void put_profile_part(struct pprof *pprof, const Pprof__Profile *part)
{
	struct gzip_append buffer = {.base.append = append_to_gzip, .to = pprof->gzip};

	pprof__profile__pack_to_buffer(part, &buffer.base);
}

/* --- strings, functions, mappings and locations are written when they are first used --- */

/* Returns the index of the string, which is written if it is new. Bytes that are not UTF-8 become
 * `?`. -ENOMEM. */
static int intern_string(struct pprof *pprof, const char *text, s64 *index)
{
	u32 count = pprof->strings.count;
	u32 number = text_set_find_or_add_number(&pprof->strings, text);

	if (number == HASH_INDEX_NONE)
		return -ENOMEM;
	if (number == count) {
		Pprof__Profile part = PPROF__PROFILE__INIT;
		json_t *plain = json_text(text);
		char *string = plain ? (char *)json_string_value(plain) : NULL;

		if (!plain)
			return -ENOMEM;
		part.string_table = &string;
		part.n_string_table = 1;
		put_profile_part(pprof, &part);
		json_decref(plain);
	}
	*index = number;
	return 0;
}

static int intern_function(struct pprof *pprof, const char *name, const char *file, u64 *id)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Function message = PPROF__FUNCTION__INIT, *messages = &message;
	struct intern_number *function;
	s64 name_index, file_index;

	if (intern_string(pprof, name, &name_index) || intern_string(pprof, file, &file_index))
		return -ENOMEM;
	function = intern_find_or_add_entry(
		&pprof->functions, &(struct intern_key){{(u64)name_index, (u64)file_index}});
	if (!function)
		return -ENOMEM;
	if (!function->number) {
		function->number = pprof->functions.count;
		message.id = function->number;
		message.name = message.system_name = name_index;
		message.filename = file_index;
		part.function = &messages;
		part.n_function = 1;
		put_profile_part(pprof, &part);
	}
	*id = function->number;
	return 0;
}

static int check_and_mark_id_written(struct seen_ids *ids, u64 id, bool *before)
{
	if (array_make_zeroed(ids->seen, id + 1, ids->room))
		return -ENOMEM;
	*before = ids->seen[id];
	ids->seen[id] = true;
	return 0;
}

static int write_mapping_once(struct pprof *pprof, const struct profile_range *range)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Mapping message = PPROF__MAPPING__INIT, *messages = &message;
	bool before;

	if (!range->number)
		return 0;
	if (check_and_mark_id_written(&pprof->seen_mappings, range->number, &before))
		return -ENOMEM;
	if (before)
		return 0;
	message.id = range->number;
	message.memory_start = range->start;
	message.memory_limit = range->end;
	message.has_functions = true;
	message.has_filenames = true;
	message.has_line_numbers = true;
	message.has_inline_frames = true;
	if (intern_string(pprof, range->path, &message.filename) ||
	    intern_string(pprof, range->build_id, &message.build_id))
		return -ENOMEM;
	part.mapping = &messages;
	part.n_mapping = 1;
	put_profile_part(pprof, &part);
	return 0;
}

/* Writes the location of a frame. `lines` and `line` have room for message->n_line elements. */
static int put_location(struct pprof *pprof, const struct event_frame *frame,
			Pprof__Location *message, Pprof__Line *lines, Pprof__Line **line)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct profile_place place;
	int err = 0;

	if (frame->name) {
		profile_place_of_frame(pprof->reader, frame->name, &place);
		message->address = place.address;
		message->mapping_id = place.range.number;
		err = write_mapping_once(pprof, &place.range);
	}
	for (u32 i = 0; i < message->n_line && !err; i++) {
		struct profile_line at = profile_line_of_frame(frame, i);

		line[i] = &lines[i];
		pprof__line__init(&lines[i]);
		lines[i].line = at.line;
		err = intern_function(pprof, at.function, at.file, &lines[i].function_id);
	}
	if (err)
		return err;
	message->line = line;
	part.location = &message;
	part.n_location = 1;
	put_profile_part(pprof, &part);
	return 0;
}

/* Returns the id of the frame's location, which is written if it is new. `frame` is not that of an
 * inlined function: the functions inlined into a frame are lines of its location. */
static int write_location_once(struct pprof *pprof, const struct event_frame *frame, u64 *id)
{
	u32 count = profile_count_functions_of_frame(frame);
	Pprof__Location message = PPROF__LOCATION__INIT;
	Pprof__Line *lines, **line;
	bool before;
	int err;

	*id = frame->number + 1UL;
	if (check_and_mark_id_written(&pprof->seen_locations, *id, &before))
		return -ENOMEM;
	if (before)
		return 0;
	lines = calloc(count, sizeof(Pprof__Line));
	line = calloc(count, sizeof(Pprof__Line *));
	message.id = *id;
	message.n_line = count;
	err = lines && line ? put_location(pprof, frame, &message, lines, line) : -ENOMEM;
	free(line);
	free(lines);
	return err;
}

/* --- the main program --- */

static bool is_path_of_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *end = strstr(slash ? slash : path, ".so");

	return end && (!end[3] || end[3] == '.');
}

static u32 find_mapping_of_main_program(const struct pprof *pprof, const struct trace_stack *stack)
{
	for (u32 i = stack->depth; i-- > 0;) {
		const struct trace_mapping *mapping =
			trace_reader_mapping(pprof->reader, FRAME_MAPPING(stack->frames[i]));

		if (mapping && mapping->kind == MAPPING_FILE && !is_path_of_library(mapping->path))
			return (u32)(mapping - pprof->mappings) + PROGRAM_FIRST;
	}
	return PROGRAM_NONE;
}

/* --- the head of the file --- */

static int count_event(void *arg, const struct trace_event *event)
{
	struct pprof *pprof = arg;
	u32 *program;

	if (!event_filter_passes(pprof->filter, pprof->reader, event))
		return 0;
	if (!pprof->first)
		pprof->first = event->time;
	pprof->last = event->time;
	pprof->columns[event->kind].events += event_stands_for(event);
	if (event->user != TRACE_NO_STACK && strcmp(pprof->sources[event->kind].name, WAKER)) {
		program = &pprof->program_of[event->user];
		if (*program == PROGRAM_NOT_SEARCHED)
			*program = find_mapping_of_main_program(pprof, &pprof->stacks[event->user]);
		if (*program >= PROGRAM_FIRST)
			pprof->program_events[*program - PROGRAM_FIRST] += event_stands_for(event);
	}
	return 0;
}

static int intern_type_name(struct pprof *pprof, const char *name, const char *suffix, s64 *index)
{
	char *type;
	int err;

	if (asprintf(&type, "%s%s", name, suffix) < 0)
		return -ENOMEM;
	for (char *colon = type; pprof->no_colons && (colon = strchr(colon, ':'));)
		*colon = '.';
	err = intern_string(pprof, type, index);
	free(type);
	return err;
}

static int put_sample_type(struct pprof *pprof, const char *name, const char *suffix,
			   const char *unit)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType message = PPROF__VALUE_TYPE__INIT, *messages = &message;
	int err = intern_type_name(pprof, name, suffix, &message.type)
			  ?: intern_string(pprof, unit, &message.unit);

	part.sample_type = &messages;
	part.n_sample_type = 1;
	pprof->types++;
	if (!err)
		put_profile_part(pprof, &part);
	return err;
}

/* Writes the sample types. pprof needs at least one sample type. */
static int put_sample_types(struct pprof *pprof)
{
	int err = 0;

	for (u32 i = 0; i < pprof->source_count && !err; i++) {
		const struct trace_source *source = &pprof->sources[i];
		struct columns *columns = &pprof->columns[i];

		if (!columns->events)
			continue;
		columns->count = pprof->types;
		columns->has_values = source->extras & TRACE_EXTRA_VALUE;
		err = put_sample_type(pprof, source->name, "", "count");
		if (!err && columns->has_values)
			err = put_sample_type(pprof, source->name, "_value",
					      value_unit_word(source->value_unit)
						      ?: source->value_unit);
	}
	if (!err && !pprof->types)
		err = put_sample_type(pprof, "events", "", "count");
	if (err)
		return err;
	pprof->values = calloc(pprof->types, sizeof(s64));
	return pprof->values ? 0 : -ENOMEM;
}

/* The default type is that of the source with most events: the sum of values if the values have a
 * unit, else the count. */
static int put_default_sample_type(struct pprof *pprof)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	u32 most = 0;
	int err;

	for (u32 i = 1; i < pprof->source_count; i++)
		if (pprof->columns[i].events > pprof->columns[most].events)
			most = i;
	if (!pprof->source_count || !pprof->columns[most].events)
		return 0;
	err = intern_type_name(pprof, pprof->sources[most].name,
			       pprof->sources[most].value_unit[0] ? "_value" : "",
			       &part.default_sample_type);
	if (!err)
		put_profile_part(pprof, &part);
	return err;
}

static int put_comment(struct pprof *pprof, const char *format, ...)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	va_list args;
	char *text;
	s64 index;
	int err;

	va_start(args, format);
	err = vasprintf(&text, format, args) < 0 ? -ENOMEM : 0;
	va_end(args);
	if (err)
		return err;
	err = intern_string(pprof, text, &index);
	free(text);
	part.comment = &index;
	part.n_comment = 1;
	if (!err)
		put_profile_part(pprof, &part);
	return err;
}

static int put_comments(struct pprof *pprof)
{
	const struct trace_info *info = trace_reader_info(pprof->reader);
	const struct trace_ledger *ledger = trace_reader_ledger(pprof->reader);
	int err = put_comment(pprof, "command: %s", info->command)
			  ?: put_comment(pprof, "host: %s, Linux %s, %s, %u CPUs", info->hostname,
					 info->kernel, info->machine, info->cpus);

	if (err || !ledger)
		return err;
	if (ledger->counted)
		return put_comment(
			pprof, "ledger: %llu events produced, %llu recorded, %llu counted only",
			(unsigned long long)ledger->produced, (unsigned long long)ledger->recorded,
			(unsigned long long)ledger->counted);
	return put_comment(pprof, "ledger: %llu events produced, %llu recorded",
			   (unsigned long long)ledger->produced,
			   (unsigned long long)ledger->recorded);
}

static int put_times_and_period(struct pprof *pprof)
{
	const struct trace_info *info = trace_reader_info(pprof->reader);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;

	part.time_nanos = (s64)(info->start_realtime + pprof->first - info->start_monotonic);
	part.duration_nanos = (s64)(pprof->last - pprof->first);
	if (info->frequency) {
		if (intern_string(pprof, "cpu", &period.type) ||
		    intern_string(pprof, "nanoseconds", &period.unit))
			return -ENOMEM;
		part.period_type = &period;
		part.period = (s64)(SECOND / info->frequency);
	}
	put_profile_part(pprof, &part);
	return 0;
}

static int write_profile_fields_before_samples(struct pprof *pprof)
{
	int err = put_sample_types(pprof)
			  ?: put_default_sample_type(pprof) ?: put_times_and_period(pprof) ?: put_comments(pprof);
	struct profile_range range;
	u32 most = 0;

	for (u32 i = 0; i < LABELS && !err; i++)
		err = intern_string(pprof, label_names[i], &pprof->label_keys[i]);
	if (err)
		return err;
	/* pprof takes the first mapping of a file for the main program. */
	for (u32 i = 0; i < pprof->mapping_count; i++)
		if (pprof->program_events[i] > pprof->program_events[most])
			most = i;
	if (!pprof->program_events[most])
		return 0;
	profile_range_of_mapping(pprof->reader, &pprof->mappings[most], &range);
	return write_mapping_once(pprof, &range);
}

/* --- samples of events --- */

/* pprof takes the first mapping for the main program. Locations are written outermost first, so
 * that without a main program the outermost file is the first mapping. */
static int set_sample_locations(struct pprof *pprof, const struct event_stack *stack, size_t *count)
{
	size_t at;
	int err = 0;

	if (array_make_rooms(pprof->locations, stack->depth, pprof->room))
		return -ENOMEM;
	*count = 0;
	for (u32 i = 0; i < stack->depth; i++)
		*count += !stack->frames[i].inlined;
	at = *count;
	for (u32 i = stack->depth; i-- > 0 && !err;)
		if (!stack->frames[i].inlined)
			err = write_location_once(pprof, &stack->frames[i],
						  &pprof->locations[--at]);
	return err;
}

/* The CPU is a text, since pprof drops a label with the number 0. */
static int set_sample_labels(struct pprof *pprof, const struct sample_key *key,
			     Pprof__Label *labels)
{
	char cpu[8], room[TRACE_CGROUP_ROOM];
	const char *cgroup = trace_cgroup_name(pprof->reader, key->cgroup, room);

	for (u32 i = 0; i < LABELS; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = pprof->label_keys[i];
	}
	if (key->event.tid != TID_INTERRUPT) { /* an interrupt has no process and no thread */
		labels[LABEL_PID].num = key->tgid;
		labels[LABEL_TID].num = key->event.tid;
	}
	snprintf(cpu, sizeof(cpu), "%u", key->event.cpu);
	return intern_string(pprof, cpu, &labels[LABEL_CPU].str)
		       ?: intern_string(pprof, cgroup, &labels[LABEL_CGROUP].str)
		       ?: intern_string(pprof, key->comm[0] ? key->comm : "[unknown]",
				       &labels[LABEL_COMM].str);
}

static int put_sample(void *arg, const struct sample *sample)
{
	struct pprof *pprof = arg;
	const struct columns *columns = &pprof->columns[sample->key.event.kind];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample message = PPROF__SAMPLE__INIT, *messages = &message;
	Pprof__Label labels[LABELS], *label[LABELS];
	struct event_stack stack;
	int err = event_stacks_find(pprof->event_stacks, &sample->key.event, &stack);

	if (!err && !stack.depth) /* pprof drops samples without locations */
		err = event_stacks_marker_of_missing_stack(pprof->event_stacks, &sample->key.event,
							   &stack);
	err = err ?: set_sample_locations(pprof, &stack, &message.n_location_id);
	err = err ?: set_sample_labels(pprof, &sample->key, labels);
	if (err)
		return err;
	message.location_id = pprof->locations;
	for (u32 i = 0; i < LABELS; i++)
		label[i] = &labels[i];
	message.label = label;
	message.n_label = LABELS;
	memset(pprof->values, 0, pprof->types * sizeof(s64));
	pprof->values[columns->count] = (s64)sample->count;
	if (columns->has_values)
		pprof->values[columns->count + 1] = (s64)sample->value;
	message.value = pprof->values;
	message.n_value = pprof->types;
	part.sample = &messages;
	part.n_sample = 1;
	put_profile_part(pprof, &part);
	return ferror(pprof->to) ? 1 : 0;
}

static int put_samples(struct pprof *pprof)
{
	int err = sample_table_each(pprof->samples, put_sample, pprof);

	sample_table_empty(pprof->samples);
	return err;
}

static int add_event_to_samples(void *arg, const struct trace_event *event)
{
	struct pprof *pprof = arg;
	const struct trace_task *task;
	int err;

	if (!event_filter_passes(pprof->filter, pprof->reader, event))
		return 0;
	task = trace_reader_task(pprof->reader, event->tid, event->time);
	err = sample_table_add(pprof->samples, event, task, 0);
	if (err != -ENOSPC)
		return err;
	return put_samples(pprof) ?: sample_table_add(pprof->samples, event, task, 0);
}

static int pprof_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
		       struct stackmap_error *error)
{
	struct pprof pprof = {.reader = reader,
			      .filter = &options->filter,
			      .no_colons = options->no_colons,
			      .to = to};
	u32 stack_count = trace_reader_stacks(pprof.reader, &pprof.stacks);
	s64 empty;
	int err = gzip_stream_create(pprof.to, &pprof.gzip);

	pprof.source_count = trace_reader_sources(pprof.reader, &pprof.sources);
	pprof.mapping_count = trace_reader_mappings(pprof.reader, &pprof.mappings);
	pprof.strings = TEXT_SET;
	pprof.functions = INTERN(struct intern_number);
	pprof.columns = calloc(pprof.source_count + 1UL, sizeof(struct columns));
	pprof.program_of = calloc(stack_count + 1UL, sizeof(*pprof.program_of));
	pprof.program_events = calloc(pprof.mapping_count + 1UL, sizeof(*pprof.program_events));
	if (!err && (!pprof.columns || !pprof.program_of || !pprof.program_events))
		err = -ENOMEM;
	err = err ?: sample_table_create(SAMPLES, false, &pprof.samples);
	err = err ?: event_stacks_create(pprof.reader, &options->naming, &pprof.event_stacks);
	err = err ?: intern_string(&pprof, "", &empty);
	err = err ?: trace_reader_events(reader, count_event, &pprof, error);
	err = err ?: write_profile_fields_before_samples(&pprof);
	err = err ?: trace_reader_events(reader, add_event_to_samples, &pprof, error);
	err = err ?: put_samples(&pprof);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "pprof: not enough memory");
	text_set_clear(&pprof.strings);
	intern_clear(&pprof.functions);
	free(pprof.seen_locations.seen);
	free(pprof.seen_mappings.seen);
	free(pprof.program_of);
	free(pprof.program_events);
	event_stacks_free(&pprof.event_stacks);
	sample_table_free(&pprof.samples);
	gzip_stream_close(&pprof.gzip);
	free(pprof.columns);
	free(pprof.values);
	free(pprof.locations);
	return err > 0 ? 0 : err;
}

const struct export_format pprof_format = {
	.name = "pprof",
	.binary = true,
	.write = pprof_write,
};
