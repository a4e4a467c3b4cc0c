/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events are counted in cells (struct time_cell), and then the stacks of the cells are added to the
 * tree. A cell refers to a stack by its two paths (struct profile_path), so an event takes a few
 * lookups whatever the depth of its stack. A stack of the tree is the name of its task, then the
 * user frames, then the kernel frames, outermost first. A path is walked through the tree once for
 * each node that it begins at; a struct join keeps the node where the walk ends.
 */
#include "flamegraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "graph.h"
#include "order.h"
#include "report/event/event_paths.h"
#include "report/event/origins.h"
#include "report/event/wait_ends.h"
#include "script.h"
#include "trace/block/source_name.h"

#define NO_SOURCE UINT16_MAX
#define BATCH_EVENTS 64
#define UNKNOWN "[unknown]"

/* The most cells while events are counted, which bounds the memory of a graph. */
#define CELLS_MAX (1U << 20)

/* A page with more than CELLS_MANY cells (6 MB) is reduced to CELLS_SMALL cells (less than 2
 * MB). */
#define CELLS_SMALL (1U << 16)

struct join {
	struct intern_key key;	/* the key of a walk: addresses of the node and the path; 1 for a
				   kernel path */
	struct tree_node *node; /* node at which the path ends; NULL: the path was not walked from
				   there yet */
};

/* An event that passed the filter, and the cell that counts it. */
struct pending {
	struct trace_event event;
	struct time_cell cell;
};

/* The state of adding one recording to the graph. */
struct builder {
	struct flamegraph *graph;
	struct graph_recording *recording;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct frame_names *names;
	struct event_paths *paths;
	struct intern joins;
	/* wakers of the waits; NULL in a comparison, which has no single waits */
	struct wakeups *wakeups;
	struct origins *origins; /* origins of the events; NULL in a comparison */
	/* counts of events by address; NULL: no source lines are known */
	struct address_counts *addresses;
	/* by event kind: index of the graph's source, or NO_SOURCE */
	u16 *source_of;
	struct pending *batch;
	u32 pending;
};

/* --- fewer cells --- */

/*
 * Threads of one name that are not among the hottest threads become one thread (TID_OTHERS), in
 * which their later events are counted, too. The idle tasks (thread 0) are not joined, since the
 * page hides them.
 */
#define ALL UINT32_MAX

static const struct level {
	u32 buckets, threads; /* limits of a level: the most buckets, and the most threads that keep
				 cells of their own */
} levels[] = {{64, ALL}, {64, 256}, {64, 32}, {32, 8}, {16, 4}, {8, 1}, {2, 1}, {1, 1}};
#define LEVELS (sizeof(levels) / sizeof(*levels))

struct thread_weight {
	u32 thread;
	u64 events;
};

static int compare_by_descending_events(const void *left, const void *right)
{
	const struct thread_weight *a = left, *b = right;

	return order(b->events, a->events) ?: order(a->thread, b->thread);
}

/* Merges a thread into the thread TID_OTHERS of the same name. */
static int merge_thread_into_others_of_name(struct flamegraph *graph, struct time_cells *cells,
					    u32 number)
{
	struct graph_thread *thread = graph->threads.entries[number], *others;
	struct intern_key key = {{TID_OTHERS}};

	if (!thread->tid || thread->tid == TID_OTHERS || thread->tid == TID_INTERRUPT)
		return 0;
	memcpy(&key.word[1], thread->comm, sizeof(thread->comm));
	others = intern_find_or_add_entry(&graph->threads, &key);
	if (!others)
		return -ENOMEM;
	if (!others->node) {
		others->tid = TID_OTHERS;
		memcpy(others->comm, thread->comm, sizeof(others->comm));
		others->number = graph->threads.count - 1;
		others->node = thread->node;
	}
	thread->is_joined = true;
	cells->joined[number] = others->number;
	return 0;
}

static int merge_cold_threads_of_one_name(struct flamegraph *graph, struct time_cells *cells,
					  u32 most)
{
	u32 count = graph->threads.count;
	struct thread_weight *weights = calloc(count + 1UL, sizeof(*weights));
	u32 *joined = weights ? reallocarray(cells->joined, count + 1UL, sizeof(*joined)) : NULL;
	int err = joined ? 0 : -ENOMEM;

	if (joined) {
		cells->joined = joined;
		for (u32 i = cells->joined_count; i < count; i++)
			joined[i] = i;
		cells->joined_count = count;
		for (u32 i = 0; i < count; i++)
			weights[i].thread = i;
		for (u32 i = 0; i < cells->cells.count; i++) {
			const struct time_cell *cell = time_cells_at(cells, i);

			weights[cell->thread].events += cell->count;
		}
		qsort(weights, count, sizeof(*weights), compare_by_descending_events);
	}
	for (u32 i = most; i < count && !err; i++)
		err = merge_thread_into_others_of_name(graph, cells, weights[i].thread);
	free(weights);
	return err;
}

/*
 * Bounds the number of cells, so that a page of any recording can be opened. The first level joins
 * the cells of all CPUs and of neighbouring times. Later levels also join the cells of threads of
 * one name; only the hottest threads, fewer at each level, keep their own cells. The sums of the
 * joined cells and of the stacks stay exact. Stops when at most `most` cells are left, or after the
 * last level. -ENOMEM.
 */
static int merge_time_cells_to_limit(struct flamegraph *graph, struct graph_recording *recording,
				     u32 most)
{
	struct time_cells *cells = &recording->cells;
	int err = 0;

	while (cells->cells.count > most && cells->level < LEVELS && !err) {
		const struct level *level = &levels[cells->level++];
		u32 shift = cells->shift;

		while (cells->bucket >> (shift - cells->shift) >= level->buckets)
			shift++;
		cells->joins_cpus = true;
		if (level->threads != ALL)
			err = merge_cold_threads_of_one_name(graph, cells, level->threads);
		err = err ?: time_cells_merge_by_time_step(cells, shift);
	}
	return err;
}

/* --- events --- */

static struct tree_node *add_child_node(struct builder *builder, struct tree_node *node,
					const struct tree_frame *frame)
{
	return frame ? stack_tree_find_or_add_child(&builder->graph->tree, node, frame) : NULL;
}

static struct tree_node *add_child_by_name(struct builder *builder, struct tree_node *node,
					   const char *name, const char *object,
					   enum frame_kind kind)
{
	return add_child_node(
		builder, node,
		stack_tree_find_or_add_frame(&builder->graph->tree, name, object, kind));
}

/* Returns the frame of the tree that a label stands for. NULL: no memory. */
static const struct tree_frame *make_tree_frame(struct builder *builder, u32 label, bool is_kernel)
{
	const char *name = frame_names_label(builder->names, label);
	const char *object = frame_names_label_object(builder->names, label) ?: "";
	enum frame_kind kind = FRAME_KIND_USER;
	size_t length = strlen(name), mark = strlen(FRAME_INLINED_MARK);

	/* The object of code in anonymous memory is a name in brackets; but [vdso] and [unknown] (a
	 * file under no mount) count as files. */
	if (is_kernel)
		kind = FRAME_KIND_KERNEL;
	else if (!object[0] || strcmp(name, UNKNOWN) == 0)
		kind = FRAME_KIND_MISSING;
	else if (script_runtime_by_name(object))
		kind = FRAME_KIND_SCRIPT;
	else if (object[0] == '[' && strcmp(object, UNKNOWN) != 0 && strcmp(object, "[vdso]") != 0)
		kind = FRAME_KIND_JIT;
	if (length > mark && strcmp(name + length - mark, FRAME_INLINED_MARK) == 0)
		kind = FRAME_KIND_INLINED;
	return stack_tree_find_or_add_frame(&builder->graph->tree, name, object, kind);
}

/* Returns the node at which a path ends if it begins below `node`; missing nodes are added. NULL:
 * no memory. */
static struct tree_node *find_or_add_tree_node_of_path(struct builder *builder,
						       struct tree_node *node,
						       const struct profile_path *path,
						       bool is_kernel)
{
	const struct intern_key key = {
		{intern_word_of_address(node), intern_word_of_address(path), is_kernel}};
	struct join *join = intern_find_or_add_entry(&builder->joins, &key);

	if (!join || join->node)
		return join ? join->node : NULL;
	if (stack_end_is_cut(path->end))
		node = add_child_by_name(builder, node, path->end->marker, "", FRAME_KIND_MISSING);
	for (u32 i = path->depth; node && i-- > 0;)
		node = add_child_node(builder, node,
				      make_tree_frame(builder, path->labels[i], is_kernel));
	join->node = node;
	return node;
}

/* Sets the paths of the event's stacks in the event's cell. The node in the tree is found later,
 * once for each cell. */
static int set_cell_paths(struct builder *builder, const struct trace_event *event,
			  struct time_cell *cell)
{
	u32 leaf = event->leaf ? event_paths_leaf_key(builder->paths, event->leaf) : PATH_NO_LEAF;
	bool in_kernel = FRAME_IS_KERNEL(event->leaf);
	const struct profile_path *user, *kernel;

	if (event->leaf && leaf == PATH_NO_LEAF)
		return -ENOMEM;
	user = event_paths_find(builder->paths, event->user, event->user_reason,
				in_kernel ? PATH_NO_LEAF : leaf);
	kernel = event_paths_find(builder->paths, event->kernel, event->kernel_reason,
				  in_kernel ? leaf : PATH_NO_LEAF);
	if (!user || !kernel)
		return -ENOMEM;
	cell->user = user->id;
	cell->kernel = kernel->id;
	return 0;
}

/* Returns the node of a thread's stack, by the ids of its paths. NULL: no memory. */
static const struct tree_node *find_or_add_tree_node_of_stack(struct builder *builder, u32 thread,
							      u32 user, u32 kernel)
{
	const struct graph_thread *of = builder->graph->threads.entries[thread];
	struct tree_node *node = find_or_add_tree_node_of_path(
		builder, of->node, event_paths_by_id(builder->paths, user), false);

	return node ? find_or_add_tree_node_of_path(builder, node,
						    event_paths_by_id(builder->paths, kernel), true)
		    : NULL;
}

static int set_stack_of_cell(struct builder *builder, struct time_cell *cell)
{
	cell->stack =
		find_or_add_tree_node_of_stack(builder, cell->thread, cell->user, cell->kernel);
	return cell->stack ? 0 : -ENOMEM;
}

/* Finds the stack of each cell in the tree. Called when all events are counted, since there are
 * fewer cells than events. */
static int set_stacks_of_cells(struct builder *builder, const struct time_cells *cells)
{
	int err = 0;

	for (u32 i = 0; i < cells->cells.count && !err; i++)
		err = set_stack_of_cell(builder, time_cells_at(cells, i));
	return err;
}

static const struct graph_thread *find_or_add_graph_thread(struct builder *builder,
							   const struct trace_event *event)
{
	const struct trace_task *task =
		trace_reader_task(builder->recording->reader, event->tid, event->time);
	struct graph_thread *thread;
	struct intern_key key = {{event->tid}};

	if (task) {
		key.word[0] |= (u64)task->tgid << 32;
		memccpy(&key.word[1], task->comm, '\0', 8 * THREAD_COMM_WORDS - 1);
	}
	thread = intern_find_or_add_entry(&builder->graph->threads, &key);
	if (!thread || thread->node)
		return thread;
	thread->pid = task ? task->tgid : 0;
	thread->tid = event->tid;
	memcpy(thread->comm, &key.word[1], sizeof(thread->comm));
	thread->number = builder->graph->threads.count - 1;
	thread->node =
		add_child_by_name(builder, builder->graph->tree.root,
				  thread->comm[0] ? thread->comm : UNKNOWN, "", FRAME_KIND_TASK);
	return thread->node ? thread : NULL;
}

static int find_or_add_graph_source(struct builder *builder, u16 kind, u16 *number)
{
	struct flamegraph *graph = builder->graph;
	const struct trace_source *source = &builder->sources[kind];
	u32 found = builder->source_of[kind];

	if (found == NO_SOURCE) {
		u32 i = 0;

		while (i < graph->source_count &&
		       (strcmp(graph->sources[i].name, source->name) != 0 ||
			strcmp(graph->sources[i].unit, source->value_unit) != 0))
			i++;
		found = i;
	}
	if (found >= NO_SOURCE)
		return -E2BIG;
	if (found == graph->source_count)
		graph->sources[graph->source_count++] =
			(struct graph_source){source->name, source->value_unit};
	*number = builder->source_of[kind] = (u16)found;
	return 0;
}

static int set_time_cell_of_pending_event(struct builder *builder, struct pending *pending)
{
	const struct trace_event *event = &pending->event;
	const struct graph_thread *thread = find_or_add_graph_thread(builder, event);
	struct time_cell *cell = &pending->cell;

	if (!thread)
		return -ENOMEM;
	*cell = (struct time_cell){.thread = thread->number,
				   .cpu = event->cpu,
				   .count = event_stands_for(event),
				   .value = event->value};
	return set_cell_paths(builder, event, cell)
		       ?: find_or_add_graph_source(builder, event->kind, &cell->source);
}

/* If the event is a wait, that is, a state event (--time) or an off-CPU event, adds the wait. */
static int add_wait_of_event(struct builder *builder, const struct pending *pending)
{
	const struct trace_event *event = &pending->event, *other;

	if (!builder->wakeups || !event_is_single(event) || !event->value ||
	    event->tid == TID_INTERRUPT ||
	    !(wakeups_is_wait(builder->wakeups, event) ||
	      trace_source_state(builder->sources[event->kind].name)))
		return 0;
	other = wakeups_other_event_of_wait(builder->wakeups, event);
	return thread_waits_add(
		&builder->recording->waits,
		&(struct thread_wait){.begin = wait_begin_time(event),
				      .length = event->value,
				      .thread = pending->cell.thread,
				      .user = pending->cell.user,
				      .kernel = pending->cell.kernel,
				      .source = pending->cell.source,
				      .other = other,
				      .origin = origins_find(builder->origins, event),
				      .other_origin = other ? origins_find(builder->origins, other)
							    : NULL});
}

/* Sets the thread and the stack of the sleeper or of the waker of a wait, by the event of that
 * task; without an event both stay unknown. */
static int set_thread_and_stack_of_wait_side(struct builder *builder,
					     const struct trace_event *event,
					     struct wait_side *side)
{
	const struct graph_thread *thread;
	struct time_cell at;

	if (!event)
		return 0;
	thread = find_or_add_graph_thread(builder, event);
	if (!thread || set_cell_paths(builder, event, &at))
		return -ENOMEM;
	side->thread = thread->number;
	side->stack = find_or_add_tree_node_of_stack(builder, thread->number, at.user, at.kernel);
	return side->stack ? 0 : -ENOMEM;
}

static int set_stacks_of_waits(struct builder *builder)
{
	struct thread_waits *waits = &builder->recording->waits;

	thread_waits_finish(waits);
	for (u32 i = 0; i < waits->count; i++) {
		struct thread_wait *wait = &waits->waits[i];

		wait->stack = find_or_add_tree_node_of_stack(builder, wait->thread, wait->user,
							     wait->kernel);
		if (!wait->stack ||
		    set_thread_and_stack_of_wait_side(builder, wait->other, &wait->waker) ||
		    set_thread_and_stack_of_wait_side(builder, wait->origin, &wait->queuer) ||
		    set_thread_and_stack_of_wait_side(builder, wait->other_origin,
						      &wait->waker_queuer))
			return -ENOMEM;
		waits->has_queuers |= wait->origin || wait->other_origin;
	}
	return 0;
}

/* Adds an event whose origin is known, to the sums of queued work. */
static int add_queued_work(struct builder *builder, const struct pending *pending)
{
	const struct trace_event *event =
		builder->origins ? origins_find(builder->origins, &pending->event) : NULL;
	const struct graph_thread *thread = event ? find_or_add_graph_thread(builder, event) : NULL;
	struct time_cell origin = {};

	if (!event)
		return 0;
	if (!thread || set_cell_paths(builder, event, &origin))
		return -ENOMEM;
	origin.thread = thread->number;
	return queued_works_add(&builder->recording->works, &pending->cell, &origin);
}

/* Adds the value of an event, unless the event stands for several events or the page has no
 * values. */
static int add_event_value(struct builder *builder, const struct pending *pending)
{
	const struct trace_event *event = &pending->event;
	const struct graph_thread *thread;

	if (builder->graph->tree.by_file_name ||
	    !event_values_fit_histogram(
		    event, trace_reader_info(builder->recording->reader)->has_aggregates) ||
	    !trace_source_adds_up(&builder->sources[event->kind]))
		return 0;
	thread = builder->graph->threads.entries[pending->cell.thread];
	return stack_values_add(&builder->recording->values, thread->node, &pending->cell);
}

/* Chooses the sums of queued work and of values that the page shows, and sets the nodes of their
 * stacks. */
static int choose_sums_and_set_their_stacks(struct builder *builder)
{
	struct queued_works *works = &builder->recording->works;
	struct stack_values *values = &builder->recording->values;
	int err = queued_works_choose(works);

	for (u32 i = 0; i < works->shown_count && !err; i++)
		err = set_stack_of_cell(builder, &works->shown[i]->work)
			      ?: set_stack_of_cell(builder, &works->shown[i]->origin);
	stack_values_finish(values);
	for (u32 i = 0; i < values->stacks.count && !err; i++)
		err = set_stack_of_cell(builder, &stack_values_at(values, i)->cell);
	return err;
}

static int add_source_lines(void *arg, u64 frame, bool return_address, u64 events)
{
	struct builder *builder = arg;
	const struct frame_name *name = frame_names_find(builder->names, frame, return_address);
	int err = name ? 0 : -ENOMEM;

	for (u32 i = 0; name && i < name->function_count && !err; i++) {
		const struct frame_function *function = &name->functions[i];
		const struct tree_frame *of;

		if (!function->file || !function->line)
			continue;
		of = make_tree_frame(builder, function->label, FRAME_IS_KERNEL(frame));
		err = of ? source_lines_add(&builder->graph->lines, of, function->file,
					    function->line, events)
			 : -ENOMEM;
	}
	return err;
}

static int count_event(struct builder *builder, const struct pending *pending)
{
	const struct trace_event *event = &pending->event;
	struct graph_recording *recording = builder->recording;
	int err = 0;

	if (builder->addresses)
		err = address_counts_add(builder->addresses, event, pending->cell.count);
	recording->events += pending->cell.count;
	if (err || event->is_counted)
		return err ?: time_cells_add(&recording->counts, 0, &pending->cell);
	recording->last = event->time;
	err = time_cells_add(&recording->cells, event->time, &pending->cell);
	if (!err && recording->cells.cells.count > CELLS_MAX)
		err = merge_time_cells_to_limit(builder->graph, recording, CELLS_MAX);
	return err;
}

/* Before a batch of events is counted, the memory that their lookups read is prefetched for all of
 * them. */
static int count_batched_events(struct builder *builder)
{
	struct graph_recording *recording = builder->recording;
	struct pending *batch = builder->batch;
	int err = 0;

	for (u32 i = 0; i < builder->pending; i++)
		event_paths_prefetch_leaf(builder->paths, batch[i].event.leaf);
	for (u32 i = 0; i < builder->pending && !err; i++)
		err = set_time_cell_of_pending_event(builder, &batch[i]) ?: add_wait_of_event(builder, &batch[i])
				?: add_queued_work(builder, &batch[i]) ?: add_event_value(builder, &batch[i]);
	for (u32 step = 0; step < INTERN_STEPS && !err; step++)
		for (u32 i = 0; i < builder->pending; i++)
			time_cells_prefetch_cell(&recording->cells, &batch[i].cell, step);
	for (u32 i = 0; i < builder->pending && !err; i++)
		err = count_event(builder, &batch[i]);
	builder->pending = 0;
	return err;
}

static int add_event_to_batch(void *arg, const struct trace_event *event)
{
	struct builder *builder = arg;

	if (!event_filter_passes(builder->filter, builder->recording->reader, event))
		return 0;
	builder->batch[builder->pending++].event = *event;
	return builder->pending == BATCH_EVENTS ? count_batched_events(builder) : 0;
}

/* All sources of the recording may have events, so there is room for all of them. */
static int prepare_builder_for_recording(struct builder *builder)
{
	struct flamegraph *graph = builder->graph;
	struct trace_reader *reader = builder->recording->reader;
	u32 count = trace_reader_sources(reader, &builder->sources);
	int err;

	builder->joins = INTERN(struct join);
	builder->batch = calloc(BATCH_EVENTS, sizeof(*builder->batch));
	builder->source_of = malloc((count + 1UL) * sizeof(u16));
	if (!builder->batch || !builder->source_of ||
	    array_make_rooms(graph->sources, graph->source_count + count, graph->source_room))
		return -ENOMEM;
	memset(builder->source_of, 0xff, count * sizeof(u16));
	if (!graph->tree.by_file_name && (wakeups_create(reader, &builder->wakeups) ||
					  origins_create(reader, &builder->origins)))
		return -ENOMEM;
	err = frame_names_create(reader, graph->naming, &builder->names)
		      ?: event_paths_create(reader, builder->names, &builder->paths);
	if (!err && frame_names_have_lines(builder->names))
		err = address_counts_create(reader, &builder->addresses);
	return err;
}

int flamegraph_add(struct flamegraph *graph, struct trace_reader *reader, const char *name,
		   const struct event_filter *filter, struct stackmap_error *error)
{
	struct graph_recording *recording = &graph->recordings[graph->recording_count++];
	struct builder builder = {.graph = graph, .recording = recording, .filter = filter};
	int err;

	recording->reader = reader;
	time_cells_init(&recording->cells);
	time_cells_init(&recording->counts);
	queued_works_init(&recording->works);
	stack_values_init(&recording->values);
	recording->name = strdup(name);
	err = recording->name ? prepare_builder_for_recording(&builder) : -ENOMEM;
	if (!err)
		err = trace_reader_events(reader, add_event_to_batch, &builder, error);
	err = err ?: count_batched_events(&builder);
	if (!err && recording->cells.cells.count > CELLS_MANY)
		err = merge_time_cells_to_limit(graph, recording, CELLS_SMALL);
	err = err ?: set_stacks_of_cells(&builder, &recording->cells)
			?: set_stacks_of_cells(&builder, &recording->counts) ?: set_stacks_of_waits(&builder) ?: choose_sums_and_set_their_stacks(&builder);
	if (!err && builder.addresses)
		err = address_counts_each(builder.addresses, add_source_lines, &builder);
	if (err == -ENOMEM || err == -E2BIG)
		error_set(error, -err, "flame graph: %s", strerror(-err));
	intern_clear(&builder.joins);
	wakeups_free(&builder.wakeups);
	origins_free(&builder.origins);
	address_counts_free(&builder.addresses);
	event_paths_free(&builder.paths);
	frame_names_free(&builder.names);
	free(builder.source_of);
	free(builder.batch);
	return err;
}

u64 flamegraph_events(const struct flamegraph *graph)
{
	u64 events = 0;

	for (u32 i = 0; i < graph->recording_count; i++)
		events += graph->recordings[i].events;
	return events;
}

int flamegraph_create(const struct frame_naming *naming, u32 recordings, struct flamegraph **out)
{
	struct flamegraph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return -ENOMEM;
	graph->naming = naming;
	graph->threads = INTERN(struct graph_thread);
	source_lines_init(&graph->lines);
	graph->recordings = calloc(recordings + 1UL, sizeof(*graph->recordings));
	if (!graph->recordings || stack_tree_create(&graph->tree)) {
		free(graph->recordings);
		free(graph);
		return -ENOMEM;
	}
	graph->tree.by_file_name = recordings > 1;
	*out = graph;
	return 0;
}

void flamegraph_set_idle(struct flamegraph *graph, const struct string_list *idle)
{
	graph->idle = *idle;
}

void flamegraph_free(struct flamegraph **graph)
{
	struct flamegraph *old = *graph;

	if (!old)
		return;
	for (u32 i = 0; i < old->recording_count; i++) {
		time_cells_clear(&old->recordings[i].cells);
		time_cells_clear(&old->recordings[i].counts);
		thread_waits_clear(&old->recordings[i].waits);
		queued_works_clear(&old->recordings[i].works);
		stack_values_clear(&old->recordings[i].values);
		free(old->recordings[i].name);
	}
	stack_tree_clear(&old->tree);
	source_lines_clear(&old->lines);
	intern_clear(&old->threads);
	free(old->recordings);
	free(old->sources);
	free(old);
	*graph = NULL;
}
