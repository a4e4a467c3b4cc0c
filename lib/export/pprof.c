/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile of pprof (profile.proto), in gzip: for each source that has events a sample type
 * with its name that counts them, and where events have values one more that adds these up. Samples
 * carry the labels comm, pid, tid, cpu and cgroup.
 *
 * The sample types are known before the first sample, so events are read twice. What lies in memory
 * does not grow with their number, but with that of distinct frames.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "export/profile.pb-c.h"
#include "export_format.h"
#include "main_program.h"
#include "pprof_tables.h"
#include "ring.h"
#include "sample_table.h"
#include "trace/read/cgroup_name.h"
#include "value_unit.h"

#define SAMPLES (1U << 17)
#define SECOND 1000000000ULL

enum { LABEL_COMM, LABEL_PID, LABEL_TID, LABEL_CPU, LABEL_CGROUP, LABELS };
static const char *const label_names[LABELS] = {"comm", "pid", "tid", "cpu", "cgroup"};

/* Where a source's events are counted. */
struct columns {
	u64 events;
	u32 count; /* index of the sample type; that of the values comes next */
	bool has_values;
};

struct pprof {
	struct trace_reader *reader;
	const struct event_filter *filter;
	bool no_colons; /* in sample types */
	const struct trace_source *sources;
	u32 source_count;
	struct columns *columns; /* by source */
	u32 types;
	s64 *values; /* `types` of them */
	s64 label_keys[LABELS];
	u64 first, last; /* time of the first and the last event */
	u64 *locations;
	u32 room;
	struct event_stacks *stacks;
	struct sample_table *samples;
	struct gzip_stream *gzip;
	struct pprof_tables *tables;
	struct main_program *program;
	FILE *to;
};

static int count_event(void *arg, const struct trace_event *event)
{
	struct pprof *pprof = arg;

	if (!event_filter_passes(pprof->filter, pprof->reader, event))
		return 0;
	if (!pprof->first)
		pprof->first = event->time;
	pprof->last = event->time;
	pprof->columns[event->kind].events += event_stands_for(event);
	main_program_count(pprof->program, event);
	return 0;
}

static int put_type_name(struct pprof *pprof, const char *name, const char *suffix, s64 *index)
{
	char *type;
	int err;

	if (asprintf(&type, "%s%s", name, suffix) < 0)
		return -ENOMEM;
	for (char *colon = type; pprof->no_colons && (colon = strchr(colon, ':'));)
		*colon = '.';
	err = pprof_string(pprof->tables, type, index);
	free(type);
	return err;
}

static int put_type(struct pprof *pprof, const char *name, const char *suffix, const char *unit)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType message = PPROF__VALUE_TYPE__INIT, *messages = &message;
	int err = put_type_name(pprof, name, suffix, &message.type)
			  ?: pprof_string(pprof->tables, unit, &message.unit);

	part.sample_type = &messages;
	part.n_sample_type = 1;
	pprof->types++;
	if (!err)
		pprof_put(pprof->gzip, &part);
	return err;
}

static int put_types_of(struct pprof *pprof, const struct trace_source *source,
			struct columns *columns)
{
	int err;

	columns->count = pprof->types;
	columns->has_values = source->extras & TRACE_EXTRA_VALUE;
	err = put_type(pprof, source->name, "", "count");
	if (err || !columns->has_values)
		return err;
	return put_type(pprof, source->name, "_value",
			value_unit_word(source->value_unit) ?: source->value_unit);
}

/* pprof needs one type at least. */
static int put_types(struct pprof *pprof)
{
	int err = 0;

	for (u32 i = 0; i < pprof->source_count && !err; i++)
		if (pprof->columns[i].events)
			err = put_types_of(pprof, &pprof->sources[i], &pprof->columns[i]);
	if (!err && !pprof->types)
		err = put_type(pprof, "events", "", "count");
	if (err)
		return err;
	pprof->values = calloc(pprof->types, sizeof(s64));
	return pprof->values ? 0 : -ENOMEM;
}

/* Events are shown by default as the source with most of them: by values if these have a unit. */
static int put_default_type(struct pprof *pprof)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	u32 most = 0;
	int err;

	for (u32 i = 1; i < pprof->source_count; i++)
		if (pprof->columns[i].events > pprof->columns[most].events)
			most = i;
	if (!pprof->source_count || !pprof->columns[most].events)
		return 0;
	err = put_type_name(pprof, pprof->sources[most].name,
			    pprof->sources[most].value_unit[0] ? "_value" : "",
			    &part.default_sample_type);
	if (!err)
		pprof_put(pprof->gzip, &part);
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
	err = pprof_string(pprof->tables, text, &index);
	free(text);
	part.comment = &index;
	part.n_comment = 1;
	if (!err)
		pprof_put(pprof->gzip, &part);
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
	return put_comment(pprof, "ledger: %llu events produced, %llu recorded",
			   (unsigned long long)ledger->produced,
			   (unsigned long long)ledger->recorded);
}

static int put_times(struct pprof *pprof)
{
	const struct trace_info *info = trace_reader_info(pprof->reader);
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;

	part.time_nanos = (s64)(info->start_realtime + pprof->first - info->start_monotonic);
	part.duration_nanos = (s64)(pprof->last - pprof->first);
	if (info->frequency) {
		if (pprof_string(pprof->tables, "cpu", &period.type) ||
		    pprof_string(pprof->tables, "nanoseconds", &period.unit))
			return -ENOMEM;
		part.period_type = &period;
		part.period = (s64)(SECOND / info->frequency);
	}
	pprof_put(pprof->gzip, &part);
	return 0;
}

static int make_label_keys(struct pprof *pprof)
{
	int err = 0;

	for (u32 i = 0; i < LABELS && !err; i++)
		err = pprof_string(pprof->tables, label_names[i], &pprof->label_keys[i]);
	return err;
}

/* pprof takes the first mapping of a file for its main program. */
static int put_program(struct pprof *pprof)
{
	const struct trace_mapping *mapping = main_program_find(pprof->program);

	return mapping ? pprof_mapping(pprof->tables, mapping) : 0;
}

static int put_head(struct pprof *pprof)
{
	return put_types(pprof) ?: put_default_type(pprof) ?: put_times(pprof) ?:
	       put_comments(pprof) ?: make_label_keys(pprof) ?: put_program(pprof);
}

/* Outermost first: of a profile without a program, the outermost file is its first mapping. */
static int find_locations(struct pprof *pprof, const struct event_stack *stack, size_t *count)
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
			err = pprof_location(pprof->tables, &stack->frames[i],
					     &pprof->locations[--at]);
	return err;
}

/* The CPU is text: a number 0 is no label. */
static int make_labels(struct pprof *pprof, const struct sample_key *key, Pprof__Label *labels)
{
	char cpu[8], room[TRACE_CGROUP_ROOM];
	const char *cgroup = trace_cgroup_name(pprof->reader, key->cgroup, room);

	for (u32 i = 0; i < LABELS; i++) {
		pprof__label__init(&labels[i]);
		labels[i].key = pprof->label_keys[i];
	}
	if (key->event.tid != TID_INTERRUPT) { /* which is no thread: 0 is no label */
		labels[LABEL_PID].num = key->tgid;
		labels[LABEL_TID].num = key->event.tid;
	}
	snprintf(cpu, sizeof(cpu), "%u", key->event.cpu);
	return pprof_string(pprof->tables, cpu, &labels[LABEL_CPU].str)
		       ?: pprof_string(pprof->tables, cgroup, &labels[LABEL_CGROUP].str)
		       ?: pprof_string(pprof->tables, key->comm[0] ? key->comm : "[unknown]",
				       &labels[LABEL_COMM].str);
}

static void put_message(struct pprof *pprof, Pprof__Sample *message, const struct sample *sample)
{
	const struct columns *columns = &pprof->columns[sample->key.event.kind];
	Pprof__Profile part = PPROF__PROFILE__INIT;

	memset(pprof->values, 0, pprof->types * sizeof(s64));
	pprof->values[columns->count] = (s64)sample->count;
	if (columns->has_values)
		pprof->values[columns->count + 1] = (s64)sample->value;
	message->value = pprof->values;
	message->n_value = pprof->types;
	part.sample = &message;
	part.n_sample = 1;
	pprof_put(pprof->gzip, &part);
}

static int put_sample(void *arg, const struct sample *sample)
{
	struct pprof *pprof = arg;
	Pprof__Sample message = PPROF__SAMPLE__INIT;
	Pprof__Label labels[LABELS], *label[LABELS];
	struct event_stack stack;
	int err = event_stacks_find(pprof->stacks, &sample->key.event, &stack);

	if (!err && !stack.depth) /* pprof drops samples without locations */
		err = event_stacks_missing(pprof->stacks, &sample->key.event, &stack);
	err = err ?: find_locations(pprof, &stack, &message.n_location_id);
	err = err ?: make_labels(pprof, &sample->key, labels);
	if (err)
		return err;
	for (u32 i = 0; i < LABELS; i++)
		label[i] = &labels[i];
	message.label = label;
	message.n_label = LABELS;
	message.location_id = pprof->locations;
	put_message(pprof, &message, sample);
	return ferror(pprof->to) ? 1 : 0;
}

static int put_samples(struct pprof *pprof)
{
	int err = sample_table_each(pprof->samples, put_sample, pprof);

	sample_table_empty(pprof->samples);
	return err;
}

static int add_event(void *arg, const struct trace_event *event)
{
	struct pprof *pprof = arg;
	const struct trace_task *task;
	int err;

	if (!event_filter_passes(pprof->filter, pprof->reader, event))
		return 0;
	task = trace_reader_task(pprof->reader, event->tid, event->time);
	err = sample_table_add(pprof->samples, event, task);
	if (err != -ENOSPC)
		return err;
	return put_samples(pprof) ?: sample_table_add(pprof->samples, event, task);
}

static int put_file(struct pprof *pprof, struct stackmap_error *error)
{
	return trace_reader_events(pprof->reader, count_event, pprof, error)
		       ?: put_head(pprof)
		       ?: trace_reader_events(pprof->reader, add_event, pprof, error)
		       ?: put_samples(pprof);
}

static int pprof_open(struct pprof *pprof, const struct frame_naming *naming)
{
	int err = gzip_stream_create(pprof->to, &pprof->gzip);

	pprof->source_count = trace_reader_sources(pprof->reader, &pprof->sources);
	pprof->columns = calloc(pprof->source_count + 1UL, sizeof(struct columns));
	if (!err && !pprof->columns)
		err = -ENOMEM;
	err = err ?: sample_table_create(SAMPLES, &pprof->samples);
	err = err ?: event_stacks_create(pprof->reader, naming, &pprof->stacks);
	err = err ?: main_program_create(pprof->reader, &pprof->program);
	return err ?: pprof_tables_create(pprof->reader, pprof->gzip, &pprof->tables);
}

static void pprof_close(struct pprof *pprof)
{
	pprof_tables_free(&pprof->tables);
	main_program_free(&pprof->program);
	event_stacks_free(&pprof->stacks);
	sample_table_free(&pprof->samples);
	gzip_stream_close(&pprof->gzip);
	free(pprof->columns);
	free(pprof->values);
	free(pprof->locations);
}

static int pprof_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
		       struct stackmap_error *error)
{
	struct pprof pprof = {.reader = reader,
			      .filter = &options->filter,
			      .no_colons = options->no_colons,
			      .to = to};
	int err = pprof_open(&pprof, &options->naming);

	err = err ?: put_file(&pprof, error);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "pprof: not enough memory");
	pprof_close(&pprof);
	return err > 0 ? 0 : err;
}

const struct export_format pprof_format = {
	.name = "pprof",
	.binary = true,
	.write = pprof_write,
};
