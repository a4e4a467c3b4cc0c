/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page of a flame graph: the first part of the embedded page, the data of the graph, and the
 * second part.
 *
 * The data is one JSON object, whose arrays are columns (all names, then all objects...), because
 * columns are half as long as an array of objects, and quick to read. The object stands in a
 * <script> element, which ends at the first "</script", so `<`, `>` and `&` are always escaped. All
 * other text is ASCII.
 *
 *   version     1
 *   recordings  [{name, command, host, kernel, machine, cpus, frequency, start (s since the epoch),
 *               events, first, last (s, as `script` shows), produced, recorded, counted (or
 *               null), scales (by source: events produced / events here), joinsCpus,
 *               joinsThreads}]
 *   sources     [{name, unit}]; unit "" has no value
 *   threads     [{pid, tid, comm, isJoined: its events are counted in another}]
 *   kinds       names of enum frame_kind
 *   objects     files and modules, "" for none
 *   frames      {name, object (index), kind (index)}, sorted by name
 *   lines       source lines of frames {file: all paths, frame: the difference to the line before
 *               it, path (an index), line, count (events)}, by frame, most events first; path -1:
 *               the frame's other lines, `line` of them
 *   idle        frames of functions in which a thread waits for work
 *   nodes       {up, frame}: the tree of stacks in preorder, without its root: a node's parent is
 *               `up` levels above the node before it
 *   bucket      seconds
 *   cells       for each recording {bucket, stack, source, thread, cpu, count, value}: bucket
 *               is the difference to the cell before it, stack a node: 1 is the first, 0 the root;
 *               the last cells, which have no bucket, are of events that are counted only
 *   times       for each thread of the account of time {pid, tid, begin, end (us since the first
 *               event), and by state: ns}
 *   waits       the longest waits of each thread, by thread and begin: {thread, source, stack (a
 *               node), begin, length (us), waker (a thread, or -1), wakerStack (a node),
 *               queuer, queuerStack (of the thread that queued the waiting work), wakerQueuer,
 *               wakerQueuerStack (of the thread that queued the waking work)}; the last four
 *               columns are empty if no wait has any
 *   works       events in queued work, most events first: {stack (a node), source, thread,
 *               count, value, queuer (a thread), queuerStack (a node)}
 *   values      the values of single events {digits: significant binary digits, 64 if they are
 *               exact, 0 if there are too many; aggregated: whether the kernel did so, by powers
 *               of two; by stack and source: stack (a node), source, thread
 *               (one of its name), sum, length; and for each of the `length` different values,
 *               ascending: value, the difference to the value before it, and count}
 *
 * Numbers are printed one by one, since a million of them would take much memory as JSON values.
 * Texts are encoded by jansson.
 */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "flamegraph/flamegraph.h"
#include "format/json_text.h"
#include "graph.h"
#include "report/event/stack_end.h"
#include "report/event/wait_ends.h"
#include "report/profile/comparison.h"
#include "ring.h"

/* Writes and frees `array`. `failures` is non-zero if an item could not be appended. */
static int put_json_array(json_t *array, int failures, FILE *to)
{
	return json_put_for_page(array, to) ?: failures ? -ENOMEM : 0;
}

static void begin_json_column(const char *name, bool first, FILE *to)
{
	fprintf(to, "%s\"%s\":[", first ? "" : ",", name);
}

static void put_json_number(bool first, s64 number, FILE *to)
{
	if (!first)
		fputc(',', to);
	fprintf(to, "%lld", (long long)number);
}

static json_t *make_json_number_of_seconds(u64 ns)
{
	return json_real((double)ns / 1e9);
}

static json_t *json_number_if_ledger_exists(const struct trace_ledger *ledger, u64 sum)
{
	return ledger ? json_integer((json_int_t)sum) : json_null();
}

/* Makes an object with the numbers of user stacks that are complete, have a guessed caller, end for
 * an unknown reason, and are cut or missing. */
static json_t *make_user_stacks_object(const struct trace_ledger *ledger)
{
	u64 whole = 0, cut = 0;

	if (!ledger)
		return json_null();
	for (int i = 0; i < STOP_COUNT; i++)
		if (stack_end_is_cut(stack_end_of_stop(i)))
			cut += i == STOP_GUESSED ? 0 : ledger->user_stops[i];
		else
			whole += i == STOP_NONE ? 0 : ledger->user_stops[i];
	for (int i = 0; i < REASON_COUNT; i++)
		if (stack_end_is_cut(stack_end_of_reason(i)))
			cut += ledger->user_reasons[i];
	return json_pack("{s:I, s:I, s:I, s:I}", "whole", (json_int_t)whole, "guessed",
			 (json_int_t)ledger->user_stops[STOP_GUESSED], "unknown",
			 (json_int_t)ledger->user_stops[STOP_NONE], "cut", (json_int_t)cut);
}

/* Makes the array of the factors by which `diff` scales the amounts of each source of the graph. 1:
 * the recording does not have the source. */
static json_t *make_scale_factors_by_source(const struct flamegraph *graph,
					    const struct trace_reader *reader)
{
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->source_count; i++) {
		const struct graph_source *source = &graph->sources[i];
		double scale = 1;

		for (u32 kind = 0; kind < count; kind++)
			if (!strcmp(sources[kind].name, source->name) &&
			    !strcmp(sources[kind].value_unit, source->unit))
				scale = compared_scale_of_source(reader, kind);
		failures |= json_array_append_new(array, json_real(scale));
	}
	if (!failures)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *make_recording_object(const struct flamegraph *graph,
				     const struct graph_recording *recording)
{
	const struct trace_info *info = trace_reader_info(recording->reader);
	const struct trace_ledger *ledger = trace_reader_ledger(recording->reader);
	u64 first = recording->cells.origin;
	u64 start = info->start_realtime + first - info->start_monotonic;

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:b, s:b}",
		"name", json_text(recording->name), "command", json_text(info->command), "host",
		json_text(info->hostname), "kernel", json_text(info->kernel), "machine",
		json_text(info->machine), "cpus", (json_int_t)info->cpus, "frequency",
		(json_int_t)info->frequency, "start", make_json_number_of_seconds(start), "events",
		(json_int_t)recording->events, "first", make_json_number_of_seconds(first), "last",
		make_json_number_of_seconds(recording->last), "produced",
		json_number_if_ledger_exists(ledger, ledger ? ledger->produced : 0), "recorded",
		json_number_if_ledger_exists(ledger, ledger ? ledger->recorded : 0), "counted",
		json_number_if_ledger_exists(ledger, ledger ? ledger->counted : 0), "scales",
		make_scale_factors_by_source(graph, recording->reader), "userStacks",
		make_user_stacks_object(ledger), "joinsCpus", recording->cells.joins_cpus,
		"joinsThreads", recording->cells.joined != NULL);
}

static int put_recordings(const struct flamegraph *graph, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->recording_count; i++)
		failures |= json_array_append_new(
			array, make_recording_object(graph, &graph->recordings[i]));
	fputs("\"recordings\":", to);
	return put_json_array(array, failures, to);
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
	return put_json_array(array, failures, to);
}

/* Makes the JSON value of a pid or a tid: null for interrupts, which belong to no thread. */
static json_t *json_thread_id(u32 number)
{
	return number == TID_INTERRUPT ? json_null() : json_integer(number);
}

#define OTHERS ", other threads"

static int put_threads(const struct flamegraph *graph, FILE *to)
{
	json_t *array = json_array();
	int failures = 0;

	for (u32 i = 0; i < graph->threads.count; i++) {
		const struct graph_thread *thread = graph->threads.entries[i];
		char name[sizeof(thread->comm) + sizeof(OTHERS)];
		bool is_others = thread->tid == TID_OTHERS;

		snprintf(name, sizeof(name), "%s%s", thread->comm, is_others ? OTHERS : "");
		failures |= json_array_append_new(
			array,
			json_pack("{s:o, s:o, s:o, s:b}", "pid",
				  json_thread_id(is_others ? TID_INTERRUPT : thread->pid), "tid",
				  json_thread_id(is_others ? TID_INTERRUPT : thread->tid), "comm",
				  json_text(name), "isJoined", thread->is_joined));
	}
	fputs(",\"threads\":", to);
	return put_json_array(array, failures, to);
}

static int write_names_of_frame_kinds(FILE *to)
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
	return put_json_array(array, failures, to);
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
	return put_json_array(array, failures, to);
}

static int put_frames(const struct stack_tree *tree, FILE *to)
{
	u32 count = tree->frames.count;
	int err = 0;

	fputs(",\"frames\":{", to);
	begin_json_column("name", true, to);
	for (u32 i = 0; i < count && !err; i++) {
		fputs(i ? "," : "", to);
		err = json_put_for_page(json_text(tree->sorted[i]->name), to);
	}
	fputc(']', to);
	begin_json_column("object", false, to);
	for (u32 i = 0; i < count; i++)
		put_json_number(i == 0, tree->sorted[i]->object->number, to);
	fputc(']', to);
	begin_json_column("kind", false, to);
	for (u32 i = 0; i < count; i++)
		put_json_number(i == 0, tree->sorted[i]->kind, to);
	fputc(']', to);
	fputc('}', to);
	return err;
}

static int put_source_lines(const struct source_lines *lines, FILE *to)
{
	static const char *const columns[] = {"frame", "path", "line", "count"};
	int err = 0;

	fputs(",\"lines\":{", to);
	begin_json_column("file", true, to);
	for (u32 i = 0; i < lines->shown_files.count && !err; i++) {
		fputs(i ? "," : "", to);
		err = json_put_for_page(json_text(lines->shown_files.texts[i]), to);
	}
	fputc(']', to);
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], false, to);
		for (u32 i = 0; i < lines->shown_count; i++) {
			const struct source_line *line = &lines->shown[i];
			u32 before = i ? line[-1].frame->number : 0;
			const s64 numbers[] = {
				(s64)line->frame->number - before,
				line->file ? (s64)text_set_find(&lines->shown_files, line->file)
					   : -1,
				line->line, (s64)line->count};

			put_json_number(i == 0, numbers[column], to);
		}
		fputc(']', to);
	}
	fputc('}', to);
	return err;
}

static void put_nodes(const struct stack_tree *tree, FILE *to)
{
	const struct tree_node *first = stack_tree_next(tree->root), *before = tree->root;

	fputs(",\"nodes\":{", to);
	begin_json_column("up", true, to);
	for (const struct tree_node *node = first; node; node = stack_tree_next(node)) {
		s64 up = 0;

		for (const struct tree_node *at = before; at != node->parent; at = at->parent)
			up++;
		put_json_number(node == first, up, to);
		before = node;
	}
	fputc(']', to);
	begin_json_column("frame", false, to);
	for (const struct tree_node *node = first; node; node = stack_tree_next(node))
		put_json_number(node == first, node->frame->number, to);
	fputc(']', to);
	fputc('}', to);
}

static void put_cell_column(const struct time_cells *cells, size_t column, bool first, FILE *to)
{
	for (u32 i = 0; i < cells->cells.count; i++) {
		const struct time_cell *cell = time_cells_at(cells, i);
		const s64 numbers[] = {cell->stack->number, cell->source,     cell->thread,
				       cell->cpu,	    (s64)cell->count, (s64)cell->value};

		put_json_number(first && i == 0, numbers[column], to);
	}
}

static void put_recording_cells(const struct graph_recording *recording, FILE *to)
{
	static const char *const columns[] = {"stack", "source", "thread", "cpu", "count", "value"};
	const struct time_cells *cells = &recording->cells;
	u32 before = 0;

	fputc('{', to);
	begin_json_column("bucket", true, to);
	for (u32 i = 0; i < cells->cells.count; i++) {
		u32 bucket = time_cells_at(cells, i)->bucket;

		put_json_number(i == 0, bucket - before, to);
		before = bucket;
	}
	fputc(']', to);
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], false, to);
		put_cell_column(cells, column, true, to);
		put_cell_column(&recording->counts, column, cells->cells.count == 0, to);
		fputc(']', to);
	}
	fputc('}', to);
}

static int put_all_cells(const struct flamegraph *graph, FILE *to)
{
	double bucket = (double)(1ULL << graph->recordings[0].cells.shift) / 1e9;

	fputs(",\"bucket\":", to);
	if (json_put_for_page(json_real(bucket), to))
		return -ENOMEM;
	fputs(",\"cells\":[", to);
	for (u32 i = 0; i < graph->recording_count; i++) {
		if (i)
			fputc(',', to);
		put_recording_cells(&graph->recordings[i], to);
	}
	fputc(']', to);
	return 0;
}

/* number of columns of a wait, without the last four columns, which are about queued work */
#define WAIT_COLUMNS 7

static s64 microseconds_since(u64 time, u64 first)
{
	return ((s64)(time - first)) / 1000;
}

/* Writes the time accounts of the threads; a comparison has no accounts. */
static void put_thread_times(const struct graph_recording *recording, bool is_alone, FILE *to)
{
	static const char *const columns[] = {"pid", "tid", "begin", "end",
#define X(id, name, meaning) name,
					      TIME_STATE_LIST(X)
#undef X
	};
	const struct thread_account *accounts;
	u32 count = is_alone ? trace_reader_accounts(recording->reader, &accounts) : 0;
	u64 first = recording->cells.origin;

	fputs(",\"times\":{", to);
	for (u32 column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], column == 0, to);
		for (u32 i = 0; i < count; i++) {
			const struct thread_account *account = &accounts[i];
			const s64 numbers[] = {account->tgid, account->tid,
					       microseconds_since(account->begin, first),
					       microseconds_since(account->end, first)};

			put_json_number(
				i == 0,
				column < 4 ? numbers[column] : (s64)account->spent[column - 4], to);
		}
		fputc(']', to);
	}
	fputc('}', to);
}

#define SIDE_THREAD(side) ((side).stack ? (s64)(side).thread : -1)
#define SIDE_STACK(side) ((side).stack ? (s64)(side).stack->number : 0)

static void put_waits(const struct graph_recording *recording, FILE *to)
{
	static const char *const columns[] = {
		"thread",     "source", "stack",       "begin",	      "length",		 "waker",
		"wakerStack", "queuer", "queuerStack", "wakerQueuer", "wakerQueuerStack"};
	const struct thread_waits *waits = &recording->waits;
	u32 count = waits->has_queuers ? sizeof(columns) / sizeof(*columns) : WAIT_COLUMNS;

	fputs(",\"waits\":{", to);
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], column == 0, to);
		for (u32 i = 0; i < waits->count && column < count; i++) {
			const struct thread_wait *wait = &waits->waits[i];
			const s64 numbers[] = {
				wait->thread,
				wait->source,
				wait->stack->number,
				microseconds_since(wait->begin, recording->cells.origin),
				(s64)wait->length / 1000,
				SIDE_THREAD(wait->waker),
				SIDE_STACK(wait->waker),
				SIDE_THREAD(wait->queuer),
				SIDE_STACK(wait->queuer),
				SIDE_THREAD(wait->waker_queuer),
				SIDE_STACK(wait->waker_queuer)};

			put_json_number(i == 0, numbers[column], to);
		}
		fputc(']', to);
	}
	fputc('}', to);
}

static void put_queued_works(const struct queued_works *works, FILE *to)
{
	static const char *const columns[] = {"stack", "source", "thread",     "count",
					      "value", "queuer", "queuerStack"};

	fputs(",\"works\":{", to);
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], column == 0, to);
		for (u32 i = 0; i < works->shown_count; i++) {
			const struct time_cell *work = &works->shown[i]->work;
			const struct time_cell *origin = &works->shown[i]->origin;
			const s64 numbers[] = {work->stack->number,  work->source,
					       work->thread,	     (s64)work->count,
					       (s64)work->value,     origin->thread,
					       origin->stack->number};

			put_json_number(i == 0, numbers[column], to);
		}
		fputc(']', to);
	}
	fputc('}', to);
}

static void put_single_values(const struct stack_values *values, bool is_count, FILE *to)
{
	bool is_first = true;

	for (u32 i = 0; i < values->stacks.count; i++) {
		const struct distribution *of = &stack_values_at(values, i)->values;
		u64 before = 0;

		for (u32 item = 0; item < of->item_count; item++) {
			const struct value_count *one = &of->items[item];

			put_json_number(is_first,
					(s64)(is_count ? one->count : one->value - before), to);
			before = one->value;
			is_first = false;
		}
	}
}

static void put_values(const struct graph_recording *recording, FILE *to)
{
	const struct stack_values *values = &recording->values;
	static const char *const columns[] = {"stack", "source", "thread", "sum", "length"};

	fprintf(to, ",\"values\":{\"digits\":%u,\"aggregated\":%s", values->digits,
		trace_reader_info(recording->reader)->has_aggregates ? "true" : "false");
	for (size_t column = 0; column < sizeof(columns) / sizeof(*columns); column++) {
		begin_json_column(columns[column], false, to);
		for (u32 i = 0; i < values->stacks.count; i++) {
			const struct values_of_stack *of = stack_values_at(values, i);
			const s64 numbers[] = {of->cell.stack->number, of->cell.source,
					       of->cell.thread, (s64)of->values.sum,
					       of->values.item_count};

			put_json_number(i == 0, numbers[column], to);
		}
		fputc(']', to);
	}
	begin_json_column("value", false, to);
	put_single_values(values, false, to);
	fputc(']', to);
	begin_json_column("count", false, to);
	put_single_values(values, true, to);
	fputs("]}", to);
}

static int write_page_data_as_json(const struct flamegraph *graph, FILE *to)
{
	int err;
	bool is_first = true;

	fputs("{\"version\":1,", to);
	err = put_recordings(graph, to) ?: put_sources(graph, to) ?: put_threads(graph, to);
	err = err ?: write_names_of_frame_kinds(to) ?: put_objects(&graph->tree, to);
	err = err ?: put_frames(&graph->tree, to) ?: put_source_lines(&graph->lines, to);
	if (err)
		return err;
	begin_json_column("idle", false, to);
	for (u32 i = 0; i < graph->tree.frames.count; i++) {
		if (!wait_function_is_idle(&graph->idle, graph->tree.sorted[i]->name))
			continue;
		put_json_number(is_first, i, to);
		is_first = false;
	}
	fputc(']', to);
	put_nodes(&graph->tree, to);
	err = put_all_cells(graph, to);
	put_thread_times(&graph->recordings[0], graph->recording_count == 1, to);
	put_waits(&graph->recordings[0], to);
	put_queued_works(&graph->recordings[0].works, to);
	put_values(&graph->recordings[0], to);
	fputc('}', to);
	return err;
}

int flamegraph_write(struct flamegraph *graph, FILE *to, struct stackmap_error *error)
{
	u32 shift = 0;
	int err = 0;

	/* Two recordings share one time axis, so all buckets get the width of the widest. */
	for (u32 i = 0; i < graph->recording_count; i++)
		if (graph->recordings[i].cells.shift > shift)
			shift = graph->recordings[i].cells.shift;
	for (u32 i = 0; i < graph->recording_count && !err; i++)
		err = time_cells_widen_time_steps(&graph->recordings[i].cells, shift);
	err = err ?: stack_tree_sort(&graph->tree) ?: source_lines_choose(&graph->lines);
	if (err)
		return error_set(error, -err, "flame graph: %s", strerror(-err));
	fputs(page_before_data, to);
	err = write_page_data_as_json(graph, to);
	fputs(page_after_data, to);
	return err ? error_set(error, -err, "flame graph: %s", strerror(-err)) : 0;
}
