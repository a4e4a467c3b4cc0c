/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The structs of stackmap/recording.h are copied from the reader's structs when a recording is
 * opened, because the reader's structs change from version to version. The copies count against the
 * memory limit of the reader, so a small file cannot make the program use much memory.
 */
#include "recording/public_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "intern.h"
#include "report/event/stack_end.h"
#include "report/name/frame_names.h"

/*
 * The causes of loss have names, so that a program that knows fewer causes than the library still
 * shows all of them.
 */

#define X(id, name, meaning) {name, meaning, 0},
static const struct stackmap_count lost_causes[] = {LEDGER_LOST(X)}, notes[] = {LEDGER_NOTES(X)};
#undef X

static struct stackmap_count make_named_count(const struct stack_end *end, u64 count)
{
	return (struct stackmap_count){end->name, end->meaning, count};
}

static void set_cause_counts(struct stackmap_count *to, const struct stackmap_count *causes,
			     const u64 *counts, u32 count)
{
	for (u32 i = 0; i < count; i++) {
		to[i] = causes[i];
		to[i].count = counts[i];
	}
	to[count] = (struct stackmap_count){};
}

static void set_reason_counts(struct stackmap_count *to, const u64 *counts)
{
	for (u32 i = 0; i < REASON_COUNT; i++)
		to[i] = make_named_count(stack_end_of_reason(i), counts[i]);
	to[REASON_COUNT] = (struct stackmap_count){};
}

void public_ledger_set(struct public_ledger *public, const struct trace_ledger *ledger)
{
	set_cause_counts(public->lost, lost_causes, ledger->lost, LOST_COUNT);
	set_cause_counts(public->notes, notes, ledger->notes, NOTE_COUNT);
	set_reason_counts(public->without_kernel, ledger->kernel_reasons);
	set_reason_counts(public->without_user, ledger->user_reasons);
	for (u32 i = 0; i < STOP_COUNT; i++)
	public->user_ends[i] = make_named_count(stack_end_of_stop(i), ledger->user_stops[i]);
	public->user_ends[STOP_COUNT] = (struct stackmap_count){};
	public->ledger = (struct stackmap_ledger){
		.produced = ledger->produced,
		.recorded = ledger->recorded,
		.lost = public->lost,
		.without_kernel = public->without_kernel,
		.without_user = public->without_user,
		.user_ends = public->user_ends,
		.notes = public->notes,
		.counted_only = ledger->counted,
	};
}

/* --- the recording --- */

struct known_frame {
	struct intern_key key;
	/* Symbols of the frame; label NULL: the frame is not symbolized yet. */
	struct stackmap_frame frame;
};

struct stackmap_recording {
	struct trace_reader *reader;
	struct frame_names *names;
	/* Set of the frames that the program has asked for, each a struct known_frame. */
	struct intern frames;
	struct stackmap_recording_info info;
	struct stackmap_source *sources;
	struct stackmap_task *tasks;
	struct stackmap_call_stack *stacks;
	u32 source_count, task_count, stack_count;
	const struct trace_task *read_tasks; /* the reader's tasks, in the order of tasks[] */
	const struct trace_stack *read_stacks;
	struct public_ledger ledger;
};

/* --- frames: each is symbolized once and kept until the recording is closed --- */

static int symbolize_frame(struct stackmap_recording *recording, u64 frame, bool return_address,
			   struct stackmap_frame *out)
{
	const struct frame_name *name =
		trace_reader_count_memory(recording->reader, sizeof(struct known_frame))
			? NULL
			: frame_names_find(recording->names, frame, return_address);
	const struct trace_mapping *mapping =
		FRAME_IS_KERNEL(frame)
			? NULL
			: trace_reader_mapping(recording->reader, FRAME_MAPPING(frame));

	if (!name)
		return -ENOMEM;
	*out = (struct stackmap_frame){
		.frame = frame,
		.in_kernel = FRAME_IS_KERNEL(frame),
		.label = frame_names_label(recording->names, name->label),
		.function = name->function,
		.offset = name->function ? name->offset : 0,
		.object = name->object,
		.address = name->address,
	};
	if (mapping && mapping->build_id_bytes) {
		out->build_id = mapping->build_id;
		out->build_id_bytes = mapping->build_id_bytes;
	}
	return 0;
}

static const struct stackmap_frame *find_or_symbolize_frame(struct stackmap_recording *recording,
							    u64 frame, bool return_address)
{
	const struct intern_key key = {{frame, return_address}};
	struct known_frame *known = intern_find_or_add_entry(&recording->frames, &key);

	if (!known)
		return NULL;
	if (!known->frame.label && symbolize_frame(recording, frame, return_address, &known->frame))
		return NULL;
	return &known->frame;
}

/* Allocates an array of `count` elements. If `count` is 0, the result is not NULL either: NULL
 * means that memory is short. */
static void *allocate_array(struct trace_reader *reader, u32 count, size_t item_bytes)
{
	if (trace_reader_count_memory(reader, count * item_bytes))
		return NULL;
	return calloc((size_t)count + 1, item_bytes);
}

static int copy_public_sources(struct stackmap_recording *recording)
{
	const struct trace_source *sources;

	recording->source_count = trace_reader_sources(recording->reader, &sources);
	recording->sources = allocate_array(recording->reader, recording->source_count,
					    sizeof(*recording->sources));
	if (!recording->sources)
		return -ENOMEM;
	for (u32 i = 0; i < recording->source_count; i++)
		recording->sources[i] =
			(struct stackmap_source){sources[i].name, sources[i].value_unit};
	return 0;
}

static int copy_public_tasks(struct stackmap_recording *recording)
{
	const struct trace_cgroup *cgroups;

	trace_reader_cgroups(recording->reader, &cgroups);
	recording->task_count = trace_reader_tasks(recording->reader, &recording->read_tasks);
	recording->tasks =
		allocate_array(recording->reader, recording->task_count, sizeof(*recording->tasks));
	if (!recording->tasks)
		return -ENOMEM;
	for (u32 i = 0; i < recording->task_count; i++) {
		const struct trace_task *task = &recording->read_tasks[i];

		recording->tasks[i] = (struct stackmap_task){
			.time = task->time,
			.tid = task->tid,
			.pid = task->tgid,
			.comm = task->comm,
			.cgroup = task->cgroup ? cgroups[task->cgroup - 1].path : "",
		};
	}
	return 0;
}

static int copy_public_stacks(struct stackmap_recording *recording)
{
	recording->stack_count = trace_reader_stacks(recording->reader, &recording->read_stacks);
	recording->stacks = allocate_array(recording->reader, recording->stack_count,
					   sizeof(*recording->stacks));
	if (!recording->stacks)
		return -ENOMEM;
	for (u32 i = 0; i < recording->stack_count; i++) {
		const struct trace_stack *stack = &recording->read_stacks[i];
		const struct stack_end *end = stack_end_of(stack, 0);

		recording->stacks[i] = (struct stackmap_call_stack){
			.frames = stack->frames,
			.depth = stack->depth,
			.in_kernel = !(stack->flags & STACK_USER),
			.cut = stack_end_is_cut(end),
			.end = end->name,
		};
	}
	return 0;
}

int public_recording_create(struct trace_reader *reader, struct stackmap_recording **out,
			    struct stackmap_error *error)
{
	static const struct frame_naming by_recording;
	struct stackmap_recording *recording = calloc(1, sizeof(*recording));
	const struct trace_info *info = trace_reader_info(reader);
	const struct trace_ledger *ledger = trace_reader_ledger(reader);

	if (!recording) {
		trace_reader_close(&reader);
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	}
	recording->reader = reader;
	recording->frames = INTERN(struct known_frame);
	recording->info = (struct stackmap_recording_info){
		.start_realtime = info->start_realtime,
		.start_monotonic = info->start_monotonic,
		.frequency = info->frequency,
		.cpus = info->cpus,
		.hostname = info->hostname,
		.kernel = info->kernel,
		.machine = info->machine,
		.command = info->command,
		.version = info->version,
		.is_summary = info->is_summary != 0,
	};
	if (ledger)
		public_ledger_set(&recording->ledger, ledger);
	if (copy_public_sources(recording) || copy_public_tasks(recording) ||
	    copy_public_stacks(recording) ||
	    frame_names_create(reader, &by_recording, &recording->names)) {
		stackmap_recording_close(&recording);
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	}
	*out = recording;
	return 0;
}

int stackmap_recording_open(const char *path, struct stackmap_recording **out,
			    struct stackmap_error *error)
{
	struct trace_reader *reader;
	int result = path && out ? trace_reader_open(path, &reader, error)
				 : error_set(error, EINVAL, "no %s is given (NULL)",
					     path ? "place for the recording" : "path");

	return result ?: public_recording_create(reader, out, error);
}

void stackmap_recording_close(struct stackmap_recording **recording)
{
	struct stackmap_recording *old = recording ? *recording : NULL;

	if (!old)
		return;
	frame_names_free(&old->names);
	intern_clear(&old->frames);
	trace_reader_close(&old->reader);
	free(old->sources);
	free(old->tasks);
	free(old->stacks);
	free(old);
	*recording = NULL;
}

const struct stackmap_error *stackmap_recording_damage(const struct stackmap_recording *recording)
{
	return recording ? trace_reader_damage(recording->reader) : NULL;
}

const struct stackmap_recording_info *
stackmap_recording_info(const struct stackmap_recording *recording)
{
	return recording ? &recording->info : NULL;
}

uint32_t stackmap_recording_source_count(const struct stackmap_recording *recording)
{
	return recording ? recording->source_count : 0;
}

const struct stackmap_source *stackmap_recording_source(const struct stackmap_recording *recording,
							uint32_t index)
{
	return recording && index < recording->source_count ? &recording->sources[index] : NULL;
}

uint32_t stackmap_recording_task_count(const struct stackmap_recording *recording)
{
	return recording ? recording->task_count : 0;
}

const struct stackmap_task *stackmap_recording_task(const struct stackmap_recording *recording,
						    uint32_t index)
{
	return recording && index < recording->task_count ? &recording->tasks[index] : NULL;
}

const struct stackmap_task *stackmap_recording_task_at(const struct stackmap_recording *recording,
						       uint32_t tid, uint64_t time)
{
	const struct trace_task *task =
		recording ? trace_reader_task(recording->reader, tid, time) : NULL;

	return task ? &recording->tasks[task - recording->read_tasks] : NULL;
}

uint32_t stackmap_recording_stack_count(const struct stackmap_recording *recording)
{
	return recording ? recording->stack_count : 0;
}

const struct stackmap_call_stack *
stackmap_recording_stack(const struct stackmap_recording *recording, uint32_t index)
{
	return recording && index < recording->stack_count ? &recording->stacks[index] : NULL;
}

const struct stackmap_frame *stackmap_recording_frame(struct stackmap_recording *recording,
						      uint64_t frame, int is_return_address)
{
	return recording ? find_or_symbolize_frame(recording, frame, is_return_address) : NULL;
}

static const struct stack_end *find_stack_end(const struct stackmap_recording *recording, u32 index,
					      u32 reason)
{
	return stack_end_of(index == TRACE_NO_STACK ? NULL : &recording->read_stacks[index],
			    reason);
}

struct event_pass {
	const struct stackmap_recording *recording;
	int (*each)(void *arg, const struct stackmap_event *event);
	void *arg;
};

static int convert_event(void *arg, const struct trace_event *event)
{
	const struct event_pass *pass = arg;
	const struct stack_end *kernel =
		find_stack_end(pass->recording, event->kernel, event->kernel_reason);
	const struct stack_end *user =
		find_stack_end(pass->recording, event->user, event->user_reason);
	const struct stackmap_event passed = {
		.time = event->time,
		.value = event->value,
		.leaf = event->leaf,
		.source = event->kind,
		.tid = event->tid,
		.cpu = event->cpu,
		.kernel_stack = event->kernel,
		.user_stack = event->user,
		.kernel_cut = stack_end_is_cut(kernel),
		.user_cut = stack_end_is_cut(user),
		.kernel_end = kernel->name,
		.user_end = user->name,
		.repeats = (u32)(event_stands_for(event) - 1),
		.is_counted_only = event->is_counted,
	};

	return pass->each(pass->arg, &passed);
}

int stackmap_recording_events(struct stackmap_recording *recording,
			      int (*each)(void *arg, const struct stackmap_event *event), void *arg,
			      struct stackmap_error *error)
{
	struct event_pass pass = {recording, each, arg};

	if (!recording || !each)
		return error_set(error, EINVAL, "no %s is given (NULL)",
				 each ? "recording" : "function for the events");
	return trace_reader_events(recording->reader, convert_event, &pass, error);
}

struct frame_list {
	struct stackmap_recording *recording;
	const struct stackmap_frame **frames;
	u32 count, max;
};

static int append_frame(struct frame_list *list, u64 frame, bool return_address)
{
	const struct stackmap_frame *named;

	if (list->count == list->max)
		return 0;
	named = find_or_symbolize_frame(list->recording, frame, return_address);
	if (!named)
		return -ENOMEM;
	list->frames[list->count++] = named;
	return 0;
}

/* Adds the kernel part or the user part of a stack to the frames of an event. `leaf` 0: the
 * innermost frame belongs to the other part. */
static int append_stack_part(struct frame_list *list, u64 leaf, u32 index)
{
	const struct stackmap_call_stack *stack = stackmap_recording_stack(list->recording, index);
	int result = leaf ? append_frame(list, leaf, false) : 0;

	for (u32 i = 0; stack && i < stack->depth && !result; i++)
		result = append_frame(list, stack->frames[i], i || leaf);
	return result;
}

int stackmap_recording_event_frames(struct stackmap_recording *recording,
				    const struct stackmap_event *event,
				    const struct stackmap_frame **frames, uint32_t max)
{
	struct frame_list list = {.recording = recording, .frames = frames, .max = max};
	bool leaf_in_kernel;
	int result;

	if (!recording || !event || (!frames && max))
		return -EINVAL;
	leaf_in_kernel = FRAME_IS_KERNEL(event->leaf);
	result = append_stack_part(&list, leaf_in_kernel ? event->leaf : 0, event->kernel_stack);

	result = result
			 ?: append_stack_part(&list, leaf_in_kernel ? 0 : event->leaf,
					      event->user_stack);
	return result ?: (int)list.count;
}

const struct stackmap_ledger *stackmap_recording_ledger(const struct stackmap_recording *recording)
{
	return recording && trace_reader_ledger(recording->reader) ? &recording->ledger.ledger
								   : NULL;
}
