/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The events of origins in one array, sorted by time, CPU and role. */
#include "report/event/origins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "ledger.h"
#include "order.h"
#include "trace/block/source_name.h"

/* The meaning of a source's events: origins of queued work, begins of spans, or spans. */
enum role { ROLE_NONE, ROLE_QUEUED, ROLE_BEGIN, ROLE_SPAN };

struct origins {
	enum role *roles; /* role of each source; index: number of the source, as in `kind` of an
			     event */
	bool has_any;	  /* true: a source of the recording has origins */
	struct trace_event *events;
	u32 count, room;
};

static bool is_origin(const struct origins *origins, u32 kind)
{
	return origins->roles[kind] == ROLE_QUEUED || origins->roles[kind] == ROLE_BEGIN;
}

static int collect_origin(void *arg, const struct trace_event *event)
{
	struct origins *origins = arg;

	if (event->is_counted || !is_origin(origins, event->kind))
		return 0;
	if (array_make_room(origins->events, origins->count, origins->room))
		return -ENOMEM;
	origins->events[origins->count++] = *event;
	return 0;
}

static int compare_events_by_time_and_cpu(const struct trace_event *a, const struct trace_event *b)
{
	return order(a->time, b->time) ?: order(a->cpu, b->cpu);
}

static int compare_origins_by_time_cpu_role(const void *left, const void *right, void *arg)
{
	const struct trace_event *a = left, *b = right;
	const struct origins *origins = arg;

	return compare_events_by_time_and_cpu(a, b)
		       ?: order(origins->roles[a->kind], origins->roles[b->kind]);
}

/* The role of a source. The source of a span's begin has events only with stack=both, and its
 * events then have values. */
static enum role source_role(const struct trace_source *source)
{
	if (!strcmp(source->name, TRACE_ORIGIN))
		return ROLE_QUEUED;
	if (trace_source_is_span_begin(source->name) && source->extras & TRACE_EXTRA_VALUE)
		return ROLE_BEGIN;
	return trace_source_is_span(source->name) ? ROLE_SPAN : ROLE_NONE;
}

int origins_create(struct trace_reader *reader, struct origins **out)
{
	struct origins *origins = calloc(1, sizeof(*origins));
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	int result = 0;

	if (!origins)
		return -ENOMEM;
	origins->roles = calloc(count + 1UL, sizeof(*origins->roles));
	if (!origins->roles) {
		origins_free(&origins);
		return -ENOMEM;
	}
	for (u32 kind = 0; kind < count; kind++) {
		origins->roles[kind] = source_role(&sources[kind]);
		origins->has_any |= is_origin(origins, kind);
	}
	if (origins->has_any && !trace_reader_info(reader)->is_summary)
		result = trace_reader_events(reader, collect_origin, origins, NULL);
	if (origins->count)
		qsort_r(origins->events, origins->count, sizeof(*origins->events),
			compare_origins_by_time_cpu_role, origins);
	*out = origins;
	if (result == -ENOMEM)
		origins_free(out);
	return result == -ENOMEM ? result : 0;
}

void origins_free(struct origins **origins)
{
	if (*origins) {
		free((*origins)->events);
		free((*origins)->roles);
	}
	free(*origins);
	*origins = NULL;
}

/* The origin that has this role, and the time and CPU of the event. NULL: no origin or several
 * origins have this role, time and CPU. */
static const struct trace_event *find_only_origin(const struct origins *origins,
						  const struct trace_event *event, enum role role)
{
	const struct trace_event *found = NULL;
	size_t at = bisect(origins->count, i,
			   compare_events_by_time_and_cpu(&origins->events[i], event) < 0);

	for (; at < origins->count && !compare_events_by_time_and_cpu(&origins->events[at], event);
	     at++) {
		if (origins->roles[origins->events[at].kind] != role)
			continue;
		if (found)
			return NULL;
		found = &origins->events[at];
	}
	return found;
}

const struct trace_event *origins_find(const struct origins *origins,
				       const struct trace_event *event)
{
	const struct trace_event *begin = NULL;

	if (!origins->count || is_origin(origins, event->kind) || event->is_counted)
		return NULL;
	if (origins->roles[event->kind] == ROLE_SPAN)
		begin = find_only_origin(origins, event, ROLE_BEGIN);
	return begin ?: find_only_origin(origins, event, ROLE_QUEUED);
}

bool origins_is_begin(const struct origins *origins, const struct trace_event *origin)
{
	return origins->roles[origin->kind] == ROLE_BEGIN;
}

/* --- the table --- */

struct row {
	struct intern_key key; /* addresses of the struct work and of the origin; kind of event */
	struct origin_row is;
	u64 weight, whole; /* `whole`: weight of all rows with this row's kind of event */
};

struct table {
	struct origin_table shown; /* first member: origin_table_create() returns its address */
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct frame_names *names;
	struct event_paths *paths;
	struct origins *origins;
	struct wait_ends *ends;
	struct intern works; /* entries: struct work */
	struct intern rows;
	const struct row **sorted;
	struct profile_path **cuts;
	u32 cut_count, cut_room;
};

/* The stacks of an event that has an origin, and the name of its thread. The stack of a sample
 * begins with its leaf. */
struct work {
	struct intern_key key;
	struct wait_end end;
};

/* Kernel functions that call the callback of a timer. */
static const char *const timer_callers[] = {"__hrtimer_run_queues", "call_timer_fn",
					    "__run_timers"};

/* The number of frames of a timer's callback and of the function that calls the callback. 0: the
 * stack is not that of a timer. */
static u32 timer_callback_depth(const struct frame_names *names, const struct profile_path *path)
{
	for (u32 i = 0; i < path->depth; i++)
		for (size_t j = 0; j < sizeof(timer_callers) / sizeof(*timer_callers); j++)
			if (!strcmp(frame_names_label(names, path->labels[i]), timer_callers[j]))
				return i + 1;
	return 0;
}

/* A path of the `depth` innermost frames of `path`. Equal paths are one object. NULL without
 * memory. */
static const struct profile_path *intern_inner_frames(struct table *table,
						      const struct profile_path *path, u32 depth)
{
	size_t bytes = sizeof(*path) + depth * sizeof(*path->labels);
	struct profile_path *cut;

	for (u32 i = 0; i < table->cut_count; i++)
		if (table->cuts[i]->depth == depth &&
		    !memcmp(table->cuts[i]->labels, path->labels, depth * sizeof(*path->labels)))
			return table->cuts[i];
	cut = array_make_room(table->cuts, table->cut_count, table->cut_room) ? NULL
									      : malloc(bytes);
	if (!cut)
		return NULL;
	memcpy(cut, path, bytes);
	cut->depth = depth;
	table->cuts[table->cut_count++] = cut;
	return cut;
}

static const struct work *find_or_add_work(struct table *table, const struct trace_event *event)
{
	const struct trace_task *task = trace_reader_task(table->reader, event->tid, event->time);
	u32 leaf = event->leaf ? event_paths_leaf_key(table->paths, event->leaf) : PATH_NO_LEAF;
	bool in_kernel = FRAME_IS_KERNEL(event->leaf);
	struct wait_end end = {};
	struct intern_key key = {};
	struct work *work;
	u32 depth;

	memcpy(end.comm, task ? task->comm : "", task ? sizeof(end.comm) : 1);
	end.kernel = event_paths_find(table->paths, event->kernel, event->kernel_reason,
				      in_kernel ? leaf : PATH_NO_LEAF);
	end.user = event_paths_find(table->paths, event->user, event->user_reason,
				    in_kernel ? PATH_NO_LEAF : leaf);
	/* Cuts the frames that a timer has interrupted off the stacks. */
	depth = end.kernel ? timer_callback_depth(table->names, end.kernel) : 0;
	if (depth) {
		end.comm[0] = '\0';
		end.interrupt = "timer";
		if (depth > 1)
			end.function =
				frame_names_label(table->names, end.kernel->labels[depth - 2]);
		end.kernel = intern_inner_frames(table, end.kernel, depth);
		end.user = event_paths_find(table->paths, TRACE_NO_STACK, REASON_INTERRUPT,
					    PATH_NO_LEAF);
	}
	key.word[0] = intern_word_of_address(end.kernel);
	key.word[1] = intern_word_of_address(end.user);
	key.word[2] = frame_names_intern_text(table->names, end.comm);
	work = end.kernel && end.user ? intern_find_or_add_entry(&table->works, &key) : NULL;
	if (work)
		work->end = end;
	return work;
}

static bool is_weighed_by_value(const struct table *table, u32 kind)
{
	const struct trace_source *source = &table->sources[kind];

	return source->extras & TRACE_EXTRA_VALUE && source->value_unit[0] &&
	       strcmp(source->value_unit, TRACE_UNIT_ADDRESS) != 0;
}

u64 origin_row_weight(const struct origin_table *shown, const struct origin_row *row)
{
	return is_weighed_by_value((const struct table *)shown, row->kind) ? row->value
									   : row->count;
}

static int add_event_with_origin(void *arg, const struct trace_event *event)
{
	struct table *table = arg;
	const struct trace_event *origin = origins_find(table->origins, event);
	const struct wait_end *end;
	const struct work *work;
	struct intern_key key = {};
	struct row *row;

	if (!origin || !event_filter_passes(table->filter, table->reader, event))
		return 0;
	end = wait_ends_find(table->ends, origin);
	work = find_or_add_work(table, event);
	key.word[0] = intern_word_of_address(work);
	key.word[1] = intern_word_of_address(end);
	key.word[2] = event->kind;
	row = end && work ? intern_find_or_add_entry(&table->rows, &key) : NULL;
	if (!row)
		return -ENOMEM;
	row->is.kind = event->kind;
	row->is.is_begin = origins_is_begin(table->origins, origin);
	row->is.work = work->end;
	row->is.origin = *end;
	row->is.count++;
	row->is.value += event->value;
	if (origin->value > row->is.longest)
		row->is.longest = origin->value;
	table->shown.events++;
	table->shown.weights[event->kind] +=
		is_weighed_by_value(table, event->kind) ? event->value : 1;
	return 0;
}

static int compare_origins_by_share(const void *left, const void *right)
{
	const struct row *a = *(const struct row *const *)left;
	const struct row *b = *(const struct row *const *)right;
	double share_a = a->whole ? (double)a->weight / (double)a->whole : 0;
	double share_b = b->whole ? (double)b->weight / (double)b->whole : 0;

	return (share_b > share_a) - (share_b < share_a) ?: order(a->is.kind, b->is.kind)
		       ?: order(a->is.work.kernel->id, b->is.work.kernel->id)
		       ?: order(a->is.origin.user->id, b->is.origin.user->id);
}

static int sort_origin_rows(struct table *table)
{
	u32 count = table->rows.count;

	table->sorted = calloc(count + 1UL, sizeof(*table->sorted));
	table->shown.rows = calloc(count + 1UL, sizeof(*table->shown.rows));
	if (!table->sorted || !table->shown.rows)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++) {
		struct row *row = table->rows.entries[i];

		row->weight = origin_row_weight(&table->shown, &row->is);
		row->whole = table->shown.weights[row->is.kind];
		table->sorted[i] = row;
	}
	qsort(table->sorted, count, sizeof(*table->sorted), compare_origins_by_share);
	for (u32 i = 0; i < count; i++)
		table->shown.rows[i] = &table->sorted[i]->is;
	table->shown.count = count;
	return 0;
}

static int fill_origin_table(struct table *table)
{
	static const struct string_list default_idle;
	u32 sources = trace_reader_sources(table->reader, &table->sources);
	int err = origins_create(table->reader, &table->origins);

	if (err)
		return err;
	if (!table->origins->has_any)
		return -ENODATA;
	table->shown.weights = calloc(sources + 1UL, sizeof(u64));
	if (!table->shown.weights)
		return -ENOMEM;
	err = wait_ends_create(table->reader, table->names, table->paths, NULL, &default_idle,
			       &table->ends);
	if (!err)
		err = trace_reader_events(table->reader, add_event_with_origin, table, NULL);
	return err == -ENOMEM ? err : sort_origin_rows(table);
}

int origin_table_create(struct trace_reader *reader, const struct event_filter *filter,
			struct frame_names *names, struct event_paths *paths,
			struct origin_table **out)
{
	struct table *table = calloc(1, sizeof(*table));
	int err;

	if (!table)
		return -ENOMEM;
	table->reader = reader;
	table->filter = filter;
	table->names = names;
	table->paths = paths;
	table->works = INTERN(struct work);
	table->rows = INTERN(struct row);
	*out = &table->shown;
	err = fill_origin_table(table);
	if (err)
		origin_table_free(out);
	return err;
}

void origin_table_free(struct origin_table **out)
{
	struct table *table = (struct table *)*out;

	if (!table)
		return;
	origins_free(&table->origins);
	wait_ends_free(&table->ends);
	intern_clear(&table->works);
	intern_clear(&table->rows);
	for (u32 i = 0; i < table->cut_count; i++)
		free(table->cuts[i]);
	free(table->cuts);
	free(table->sorted);
	free(table->shown.rows);
	free(table->shown.weights);
	free(table);
	*out = NULL;
}
