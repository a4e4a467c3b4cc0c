/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers are printed as they come, a million of them should not become JSON values in memory
 * first. Texts go through jansson, which knows all there is to escape.
 */
#include "page_data.h"

#include <errno.h>
#include <string.h>

#include "format/json_text.h"
#include "ring.h"

#define JSON_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

/* Outside of strings JSON has none of these: of markup, and DEL, which terminals know. */
static int put_escaped(const char *text, size_t bytes, void *to)
{
	for (size_t i = 0; i < bytes; i++) {
		if (memchr("<>&\x7f", text[i], 4))
			fprintf(to, "\\u%04x", text[i]);
		else
			fputc(text[i], to);
	}
	return 0;
}

/* Takes over `value`. */
static int put_value(json_t *value, FILE *to)
{
	int err = value ? 0 : -ENOMEM;

	if (!err && json_dump_callback(value, put_escaped, to, JSON_FLAGS))
		err = -ENOMEM;
	json_decref(value);
	return err;
}

/* Takes over `array`, of which some items may have failed. */
static int put_array(json_t *array, int failures, FILE *to)
{
	return put_value(array, to) ?: failures ? -ENOMEM : 0;
}

static void begin_column(const char *name, bool first, FILE *to)
{
	fprintf(to, "%s\"%s\":[", first ? "" : ",", name);
}

static void end_column(FILE *to)
{
	fputc(']', to);
}

static void put_number(bool first, s64 number, FILE *to)
{
	if (!first)
		fputc(',', to);
	fprintf(to, "%lld", (long long)number);
}

static int put_text(bool first, const char *text, FILE *to)
{
	if (!first)
		fputc(',', to);
	return put_value(json_text(text), to);
}

static json_t *seconds(u64 ns)
{
	return json_real((double)ns / 1e9);
}

static u64 realtime_of(const struct trace_info *info, u64 time)
{
	return info->start_realtime + time - info->start_monotonic;
}

static json_t *ledger_sum(const struct trace_ledger *ledger, u64 sum)
{
	return ledger ? json_integer((json_int_t)sum) : json_null();
}

static json_t *recording_object(const struct graph_recording *recording)
{
	const struct trace_info *info = trace_reader_info(recording->reader);
	const struct trace_ledger *ledger = trace_reader_ledger(recording->reader);
	u64 first = recording->cells.origin;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:o, s:o, s:o, s:o}",
			 "name", json_text(recording->name), "command", json_text(info->command),
			 "host", json_text(info->hostname), "kernel", json_text(info->kernel),
			 "machine", json_text(info->machine), "cpus", (json_int_t)info->cpus,
			 "frequency", (json_int_t)info->frequency, "start",
			 seconds(realtime_of(info, first)), "events", (json_int_t)recording->events,
			 "first", seconds(first), "last", seconds(recording->last), "produced",
			 ledger_sum(ledger, ledger ? ledger->produced : 0), "recorded",
			 ledger_sum(ledger, ledger ? ledger->recorded : 0));
}

static int put_recordings(const struct flamegraph *graph, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->recording_count; i++)
		failures |= json_array_append_new(array, recording_object(&graph->recordings[i]));
	fputs("\"recordings\":", to);
	return put_array(array, failures, to);
}

static int put_sources(const struct flamegraph *graph, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->source_count; i++)
		failures |= json_array_append_new(
			array, json_pack("{s:o, s:o}", "name", json_text(graph->sources[i].name),
					 "unit", json_text(graph->sources[i].unit)));
	fputs(",\"sources\":", to);
	return put_array(array, failures, to);
}

/* Puts a pid or a tid; null in samples of interrupts, which belong to no thread. */
static json_t *thread_number(u32 number)
{
	return number == TID_INTERRUPT ? json_null() : json_integer(number);
}

static int put_threads(const struct flamegraph *graph, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->threads.count; i++) {
		const struct graph_thread *thread = graph->threads.entries[i];

		failures |= json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:o}", "pid", thread_number(thread->pid), "tid",
				  thread_number(thread->tid), "comm", json_text(thread->comm)));
	}
	fputs(",\"threads\":", to);
	return put_array(array, failures, to);
}

static int put_kinds(FILE *to)
{
	static const char *const names[] = {
#define X(id, name, meaning) [FRAME_KIND_##id] = name,
		FRAME_KINDS(X)
#undef X
	};
	json_t *array = json_array();
	int failures = 0;

	for (int i = 0; i < FRAME_KIND_COUNT; i++)
		failures |= json_array_append_new(array, json_string(names[i]));
	fputs(",\"kinds\":", to);
	return put_array(array, failures, to);
}

static int put_objects(const struct stack_tree *tree, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < tree->objects.count; i++) {
		const struct tree_object *object = tree->objects.entries[i];

		failures |= json_array_append_new(array, json_text(object->path));
	}
	fputs(",\"objects\":", to);
	return put_array(array, failures, to);
}

static int put_frames(const struct stack_tree *tree, FILE *to)
{
	u32 count = tree->frames.count;
	int err = 0;

	fputs(",\"frames\":{", to);
	begin_column("name", true, to);
	for (u32 i = 0; i < count && !err; i++)
		err = put_text(i == 0, tree->sorted[i]->name, to);
	end_column(to);
	begin_column("object", false, to);
	for (u32 i = 0; i < count; i++)
		put_number(i == 0, tree->sorted[i]->object->number, to);
	end_column(to);
	begin_column("kind", false, to);
	for (u32 i = 0; i < count; i++)
		put_number(i == 0, tree->sorted[i]->kind, to);
	end_column(to);
	fputc('}', to);
	return err;
}

static void put_nodes(const struct stack_tree *tree, FILE *to)
{
	const struct tree_node *first = stack_tree_next(tree->root), *before = tree->root;

	fputs(",\"nodes\":{", to);
	begin_column("up", true, to);
	for (const struct tree_node *node = first; node; node = stack_tree_next(node)) {
		s64 up = 0;

		for (const struct tree_node *at = before; at != node->parent; at = at->parent)
			up++;
		put_number(node == first, up, to);
		before = node;
	}
	end_column(to);
	begin_column("frame", false, to);
	for (const struct tree_node *node = first; node; node = stack_tree_next(node))
		put_number(node == first, node->frame->number, to);
	end_column(to);
	fputc('}', to);
}

static s64 stack_field(const struct time_cell *cell)
{
	return cell->stack->number;
}

static s64 source_field(const struct time_cell *cell)
{
	return cell->source;
}

static s64 thread_field(const struct time_cell *cell)
{
	return cell->thread;
}

static s64 cpu_field(const struct time_cell *cell)
{
	return cell->cpu;
}

static s64 count_field(const struct time_cell *cell)
{
	return (s64)cell->count;
}

static s64 value_field(const struct time_cell *cell)
{
	return (s64)cell->value;
}

static void put_buckets(const struct time_cells *cells, FILE *to)
{
	u32 before = 0;

	begin_column("bucket", true, to);
	for (u32 i = 0; i < cells->cells.count; i++) {
		u32 bucket = time_cells_at(cells, i)->bucket;

		put_number(i == 0, bucket - before, to);
		before = bucket;
	}
	end_column(to);
}

static void put_cells(const struct time_cells *cells, FILE *to)
{
	static const struct column {
		const char *name;
		s64 (*field)(const struct time_cell *cell);
	} columns[] = {{"stack", stack_field}, {"source", source_field}, {"thread", thread_field},
		       {"cpu", cpu_field},     {"count", count_field},	 {"value", value_field}};

	fputc('{', to);
	put_buckets(cells, to);
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_column(columns[column].name, false, to);
		for (u32 i = 0; i < cells->cells.count; i++)
			put_number(i == 0, columns[column].field(time_cells_at(cells, i)), to);
		end_column(to);
	}
	fputc('}', to);
}

static int put_all_cells(const struct flamegraph *graph, FILE *to)
{
	double bucket = (double)(1ULL << graph->recordings[0].cells.shift) / 1e9;

	fputs(",\"bucket\":", to);
	if (put_value(json_real(bucket), to))
		return -ENOMEM;
	fputs(",\"cells\":[", to);
	for (u32 i = 0; i < graph->recording_count; i++) {
		if (i)
			fputc(',', to);
		put_cells(&graph->recordings[i].cells, to);
	}
	fputc(']', to);
	return 0;
}

int page_data_write(const struct flamegraph *graph, FILE *to)
{
	int err;

	fputs("{\"version\":1,", to);
	err = put_recordings(graph, to) ?: put_sources(graph, to) ?: put_threads(graph, to);
	err = err ?: put_kinds(to) ?: put_objects(&graph->tree, to);
	err = err ?: put_frames(&graph->tree, to);
	if (err)
		return err;
	put_nodes(&graph->tree, to);
	err = put_all_cells(graph, to);
	fputc('}', to);
	return err;
}
