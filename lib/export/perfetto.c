/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perfetto's own format (perfetto.proto), which its UI and its SQL read: packets in any order, each
 * with its time. Frames and call stacks are interned: a stack is written once, before its first
 * event.
 *
 *   event with a sampled pc        PerfSample
 *   event whose value is a time    a slice of its thread's track, with the stack
 *   any other event                an instant, with the stack
 *   state of a thread (--time)     a slice, and a change of the thread's state
 *   wake-up                        a flow from the waker's instant to the end of the wait
 *   origin of queued work          an annotation with the id of the thread that queued the work;
 *                                  a PerfSample has no annotations
 *   lost events                    PerfSample.kernel_records_lost of their CPU
 *
 * Slices of a track must nest, which follows the rules of chrome.c. An interrupt is not a thread,
 * so the events of interrupts have a track of their own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "error.h"
#include "event_stack.h"
#include "export/perfetto.pb-c.h"
#include "export_format.h"
#include "format/json_text.h"
#include "intern.h"
#include "report/event/origins.h"
#include "report/event/wait_ends.h"
#include "ring.h"
#include "trace/block/source_name.h"

#define SEQUENCE 1
#define STATE_CLEARED 1U
#define STATE_NEEDED 2U
#define CLOCK_REALTIME_ID 1U
#define CLOCK_MONOTONIC_ID 3U
#define INTERRUPTS_UUID (1ULL << 33)
#define PROCESS_UUID(tgid) (1ULL << 32 | (tgid))
#define THREAD_UUID(tid) ((u64)(tid) + 1)
#define MODE_KERNEL 1U
#define MODE_USER 2U
#define ANNOTATIONS_MAX 4U

enum track_event { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3 };
enum task_state { TASK_RUNNING = 3 };

/* The names of states, by the number that Perfetto gives the state. */
static const char *const states[] = {
	[2] = "runnable", [4] = "interruptible", [5] = "uninterruptible", [6] = "stopped"};

struct perfetto {
	struct trace_reader *reader;
	const struct event_filter *filter;
	const struct trace_source *sources;
	struct event_stacks *stacks;
	struct frame_tree *tree;
	struct wakeups *wakeups;
	struct origins *origins;
	struct intern tasks;
	/* paths of mappings; the iid (interning id) of a mapping is the number of its path + 1 */
	struct text_set paths;
	bool *has_stack, *has_frame; /* by iid, true: the entry was written */
	u32 stack_room, frame_room;
	u64 *frame_ids;
	u32 id_room;
	bool has_states; /* true: the recording has state events (--time), so only states become
			    slices */
	bool has_begun, has_interrupts;
	u64 last; /* time of the last event */
	FILE *to;
};

static void put_packet(struct perfetto *perfetto, Perfetto__TracePacket *packet)
{
	Perfetto__Trace part = PERFETTO__TRACE__INIT;

	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->sequence_flags = perfetto->has_begun ? STATE_NEEDED : STATE_CLEARED;
	perfetto->has_begun = true;
	part.packet = &packet;
	part.n_packet = 1;
	export_pack_to_file(&part.base, perfetto->to);
}

static void put_packet_with_time(struct perfetto *perfetto, Perfetto__TracePacket *packet, u64 time)
{
	packet->has_timestamp = packet->has_timestamp_clock_id = 1;
	packet->timestamp = time;
	packet->timestamp_clock_id = CLOCK_MONOTONIC_ID;
	put_packet(perfetto, packet);
}

/* A copy of the text with `?` in place of bytes that are not UTF-8. The caller frees the copy. NULL
 * without memory. */
static char *copy_as_utf8(const char *text)
{
	json_t *plain = json_text(text);
	char *copy = plain ? strdup(json_string_value(plain)) : NULL;

	json_decref(plain);
	return copy;
}

/* --- interned data: intern_*() sets the iid of an entry, and writes the entry if it is new --- */

static void put_interned_data(struct perfetto *perfetto, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	put_packet(perfetto, &packet);
}

static int make_interned_string(u64 iid, const char *text, Perfetto__InternedString *string)
{
	char *plain = copy_as_utf8(text);

	if (!plain)
		return -ENOMEM;
	string->has_iid = string->has_str = 1;
	string->iid = iid;
	string->str.data = (uint8_t *)plain;
	string->str.len = strlen(plain);
	return 0;
}

static int intern_mapping(struct perfetto *perfetto, const char *path, u64 *iid)
{
	u32 count = perfetto->paths.count,
	    number = text_set_find_or_add_number(&perfetto->paths, path);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT, *strings = &string;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *mappings = &mapping;

	if (number == HASH_INDEX_NONE)
		return -ENOMEM;
	*iid = number + 1UL;
	if (number < count)
		return 0;
	if (make_interned_string(*iid, path, &string))
		return -ENOMEM;
	mapping.has_iid = 1;
	mapping.iid = *iid;
	mapping.path_string_ids = iid;
	mapping.n_path_string_ids = 1;
	data.mapping_paths = &strings;
	data.mappings = &mappings;
	data.n_mapping_paths = data.n_mappings = 1;
	put_interned_data(perfetto, &data);
	free(string.str.data);
	return 0;
}

/* A frame of the format is a function. The iid of a frame is the id of its label + 1. */
static int intern_frame(struct perfetto *perfetto, const struct event_frame *frame, u64 *iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT, *strings = &string;
	Perfetto__Frame message = PERFETTO__FRAME__INIT, *messages = &message;

	*iid = frame->label_id + 1UL;
	if (array_make_zeroed(perfetto->has_frame, *iid + 1, perfetto->frame_room))
		return -ENOMEM;
	if (perfetto->has_frame[*iid])
		return 0;
	perfetto->has_frame[*iid] = true;
	if (frame->name) {
		if (intern_mapping(perfetto, frame->name->object, &message.mapping_id))
			return -ENOMEM;
		message.has_mapping_id = message.has_rel_pc = 1;
		message.rel_pc = frame->name->address;
	}
	if (make_interned_string(*iid, frame->label, &string))
		return -ENOMEM;
	message.has_iid = message.has_function_name_id = message.has_kind = 1;
	message.iid = message.function_name_id = *iid;
	message.kind = frame->in_kernel ? 2 : 1;
	data.function_names = &strings;
	data.frames = &messages;
	data.n_function_names = data.n_frames = 1;
	put_interned_data(perfetto, &data);
	free(string.str.data);
	return 0;
}

/* Sets *iid to the iid of the stack; 0: the stack has no frames. */
static int intern_stack(struct perfetto *perfetto, const struct event_stack *stack, u64 *iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack message = PERFETTO__CALLSTACK__INIT, *messages = &message;
	u32 number;
	int err = frame_tree_add(perfetto->tree, stack, &number);

	if (err || array_make_zeroed(perfetto->has_stack, number + 1UL, perfetto->stack_room) ||
	    array_make_rooms(perfetto->frame_ids, stack->depth, perfetto->id_room))
		return -ENOMEM;
	*iid = number;
	if (!number || perfetto->has_stack[number])
		return 0;
	perfetto->has_stack[number] = true;
	for (u32 i = 0; i < stack->depth && !err; i++)
		err = intern_frame(perfetto, &stack->frames[stack->depth - 1 - i],
				   &perfetto->frame_ids[i]);
	message.has_iid = 1;
	message.iid = number;
	message.frame_ids = perfetto->frame_ids;
	message.n_frame_ids = stack->depth;
	data.callstacks = &messages;
	data.n_callstacks = 1;
	put_interned_data(perfetto, &data);
	return err;
}

/* --- tracks of threads and processes --- */

static int put_task_track(struct perfetto *perfetto, const struct trace_task *task, bool is_process)
{
	const struct intern_key key = {{is_process ? task->tgid : task->tid, is_process}};
	struct named_task *named = intern_find_or_add_entry(&perfetto->tasks, &key);
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	char *name;

	if (!named)
		return -ENOMEM;
	if (strcmp(named->comm, task->comm) == 0)
		return 0;
	memcpy(named->comm, task->comm, sizeof(named->comm));
	name = copy_as_utf8(task->comm);
	if (!name)
		return -ENOMEM;
	track.has_uuid = thread.has_pid = thread.has_tid = process.has_pid = 1;
	track.uuid = is_process ? PROCESS_UUID(task->tgid) : THREAD_UUID(task->tid);
	process.pid = thread.pid = (s32)task->tgid;
	thread.tid = (s32)task->tid;
	process.process_name = thread.thread_name = name;
	if (is_process)
		track.process = &process;
	else
		track.thread = &thread;
	packet.track_descriptor = &track;
	put_packet(perfetto, &packet);
	free(name);
	return 0;
}

/* Writes the tracks of the event's thread and process, if they are new or have a new name. A
 * process has the name of its first thread. */
static int put_tracks_of_event(struct perfetto *perfetto, const struct trace_event *event,
			       const struct trace_task *task)
{
	const struct trace_task *first;
	const struct trace_task unknown = {.tid = event->tid, .tgid = event->tid, .comm = "<...>"};
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	int err = 0;

	if (event->tid == TID_INTERRUPT) {
		if (perfetto->has_interrupts)
			return 0;
		perfetto->has_interrupts = true;
		track.has_uuid = 1;
		track.uuid = INTERRUPTS_UUID;
		track.name = (char *)TID_INTERRUPT_NAME;
		packet.track_descriptor = &track;
		put_packet(perfetto, &packet);
		return 0;
	}
	first = task ? trace_reader_task(perfetto->reader, task->tgid, event->time) : NULL;
	if (first && first->tgid == task->tgid)
		err = put_task_track(perfetto, first, true);
	return err ?: put_task_track(perfetto, task ?: &unknown, false);
}

/* --- events --- */

static bool is_thread_state(const struct perfetto *perfetto, const struct trace_event *event)
{
	return trace_source_state(perfetto->sources[event->kind].name);
}

static void put_task_state(struct perfetto *perfetto, const struct trace_event *event,
			   const char *comm, u32 state, u64 time)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TaskState message = PERFETTO__TASK_STATE__INIT;

	message.has_cpu = message.has_tid = message.has_state = 1;
	message.cpu = event->cpu;
	message.tid = event->tid;
	message.state = state;
	message.comm = (char *)comm;
	packet.generic_kernel_task_state_event = &message;
	put_packet_with_time(perfetto, &packet, time);
}

/* Writes the state of the thread from the begin of the event on. After the state "runnable" the
 * thread runs on the CPU of the event. */
static int put_task_states(struct perfetto *perfetto, const struct trace_event *event,
			   const struct trace_task *task)
{
	const char *name = trace_source_state(perfetto->sources[event->kind].name);
	char *comm = copy_as_utf8(task ? task->comm : "<...>");

	if (!comm)
		return -ENOMEM;
	for (u32 i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (states[i] && strcmp(states[i], name) == 0)
			put_task_state(perfetto, event, comm, i, wait_begin_time(event));
	if (strcmp(name, "runnable") == 0)
		put_task_state(perfetto, event, comm, TASK_RUNNING, event->time);
	free(comm);
	return 0;
}

/* The begin of the slice of an event; 0: the event is an instant. */
static u64 find_slice_start_time(struct perfetto *perfetto, const struct trace_event *event)
{
	const struct trace_source *source = &perfetto->sources[event->kind];
	const struct intern_key key = {{event->tid, false}};
	struct named_task *thread = intern_find_or_add_entry(&perfetto->tasks, &key);

	if (!thread || !(source->extras & TRACE_EXTRA_VALUE) || strcmp(source->value_unit, "ns") ||
	    !event_is_single(event) || event->tid == TID_INTERRUPT || !event->value ||
	    event->value >= event->time || wakeups_is_waker(perfetto->wakeups, event) ||
	    wakeups_is_holder(perfetto->wakeups, event) ||
	    (perfetto->has_states && !is_thread_state(perfetto, event)) ||
	    wait_begin_time(event) < thread->slices_end)
		return 0;
	thread->slices_end = event->time;
	return wait_begin_time(event);
}

static void add_annotation(Perfetto__TrackEvent *message, Perfetto__DebugAnnotation *annotation,
			   const char *name, u64 value)
{
	perfetto__debug_annotation__init(annotation);
	annotation->name = (char *)name;
	annotation->has_uint_value = 1;
	annotation->uint_value = value;
	message->debug_annotations[message->n_debug_annotations++] = annotation;
}

/* The thread that has queued the event's work, or begun the span, if it is known. */
static void add_origin_annotation(struct perfetto *perfetto, const struct trace_event *event,
				  Perfetto__TrackEvent *message,
				  Perfetto__DebugAnnotation *annotation)
{
	const struct trace_event *origin = origins_find(perfetto->origins, event);

	if (!origin)
		return;
	add_annotation(message, annotation,
		       origins_is_begin(perfetto->origins, origin) ? "begun_by" : "queued_by",
		       origin->tid);
	if (origin->tid == TID_INTERRUPT) {
		annotation->has_uint_value = 0;
		annotation->string_value = (char *)TID_INTERRUPT_NAME;
	}
}

static int put_track_event(struct perfetto *perfetto, const struct trace_event *event,
			   const struct event_stack *stack, u64 stack_iid)
{
	const struct trace_source *source = &perfetto->sources[event->kind];
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent message = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation annotations[ANNOTATIONS_MAX], *list[ANNOTATIONS_MAX];
	u64 begin = find_slice_start_time(perfetto, event), flow = wait_begin_time(event);
	const struct trace_event *other = wakeups_other_event_of_wait(perfetto->wakeups, event);
	/* A flow connects the events of a waiter and its waker if the filter passes both. */
	bool has_flow = other && !wakeups_is_holder(perfetto->wakeups, other) &&
			!wakeups_is_holder(perfetto->wakeups, event) &&
			event_filter_passes(perfetto->filter, perfetto->reader, other);
	char *name = copy_as_utf8(stack->depth && !is_thread_state(perfetto, event)
					  ? stack->frames[0].label
					  : trace_source_short_name(source->name));
	char *category = copy_as_utf8(source->name);
	int err = name && category ? 0 : -ENOMEM;

	message.debug_annotations = list;
	add_annotation(&message, &annotations[0], "cpu", event->cpu);
	if (source->extras & TRACE_EXTRA_VALUE)
		add_annotation(&message, &annotations[1], "value", event->value);
	if (!event_is_single(event))
		add_annotation(&message, &annotations[2], "count", event_stands_for(event));
	add_origin_annotation(perfetto, event, &message, &annotations[3]);
	message.has_type = message.has_track_uuid = 1;
	message.type = begin ? SLICE_BEGIN : INSTANT;
	message.track_uuid =
		event->tid == TID_INTERRUPT ? INTERRUPTS_UUID : THREAD_UUID(event->tid);
	message.categories = &category;
	message.n_categories = 1;
	message.name = name;
	message.has_callstack_iid = stack_iid != 0;
	message.callstack_iid = stack_iid;
	if (has_flow && !begin) {
		message.flow_ids = &flow;
		message.n_flow_ids = 1;
	}
	packet.track_event = &message;
	if (!err)
		put_packet_with_time(perfetto, &packet, begin ?: event->time);
	free(name);
	free(category);
	if (err || !begin)
		return err;
	perfetto__track_event__init(&message);
	message.has_type = message.has_track_uuid = 1;
	message.type = SLICE_END;
	message.track_uuid = THREAD_UUID(event->tid);
	message.terminating_flow_ids = &flow;
	message.n_terminating_flow_ids = has_flow;
	put_packet_with_time(perfetto, &packet, event->time);
	return 0;
}

static int write_event_as_sample_or_track_event(struct perfetto *perfetto,
						const struct trace_event *event)
{
	const struct trace_task *task =
		trace_reader_task(perfetto->reader, event->tid, event->time);
	struct event_stack stack;
	u64 iid;
	int err = event_stacks_find(perfetto->stacks, event, &stack)
			  ?: put_tracks_of_event(perfetto, event, task)
			  ?: intern_stack(perfetto, &stack, &iid);
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__PerfSample sample = PERFETTO__PERF_SAMPLE__INIT;

	perfetto->last = event->time;
	if (!err && is_thread_state(perfetto, event) && event_is_single(event))
		err = put_task_states(perfetto, event, task);
	if (err)
		return err;
	if (!event->leaf || !event_is_single(event) ||
	    perfetto->sources[event->kind].extras & TRACE_EXTRA_VALUE)
		return put_track_event(perfetto, event, &stack, iid);
	sample.has_cpu = sample.has_pid = sample.has_tid = sample.has_cpu_mode = 1;
	sample.cpu = event->cpu;
	sample.pid = task ? task->tgid : event->tid;
	sample.tid = event->tid;
	sample.cpu_mode = FRAME_IS_KERNEL(event->leaf) ? MODE_KERNEL : MODE_USER;
	sample.has_callstack_iid = iid != 0;
	sample.callstack_iid = iid;
	packet.perf_sample = &sample;
	put_packet_with_time(perfetto, &packet, event->time);
	return 0;
}

static int write_event_if_filter_passes(void *arg, const struct trace_event *event)
{
	struct perfetto *perfetto = arg;

	if (!event_filter_passes(perfetto->filter, perfetto->reader, event))
		return 0;
	return ferror(perfetto->to) ? 1 : write_event_as_sample_or_track_event(perfetto, event);
}

/* --- the whole file --- */

static void put_clock_snapshot(struct perfetto *perfetto)
{
	const struct trace_info *info = trace_reader_info(perfetto->reader);
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock real = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Perfetto__ClockSnapshot__Clock monotonic = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
	Perfetto__ClockSnapshot__Clock *clocks[] = {&monotonic, &real};

	monotonic.has_clock_id = monotonic.has_timestamp = 1;
	monotonic.clock_id = CLOCK_MONOTONIC_ID;
	monotonic.timestamp = info->start_monotonic;
	real.has_clock_id = real.has_timestamp = 1;
	real.clock_id = CLOCK_REALTIME_ID;
	real.timestamp = info->start_realtime;
	snapshot.clocks = clocks;
	snapshot.n_clocks = info->start_realtime ? 2 : 1;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = CLOCK_MONOTONIC_ID;
	packet.clock_snapshot = &snapshot;
	put_packet(perfetto, &packet);
}

static void write_ring_losses_to_trace(struct perfetto *perfetto)
{
	const struct trace_cpu_ledger *cpus;
	u32 count = trace_reader_cpu_ledgers(perfetto->reader, &cpus);

	for (u32 i = 0; i < count; i++) {
		Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
		Perfetto__PerfSample sample = PERFETTO__PERF_SAMPLE__INIT;

		for (u32 cause = 0; cause < LOST_COUNT; cause++)
			sample.kernel_records_lost += cpus[i].lost[cause];
		if (!sample.kernel_records_lost)
			continue;
		sample.has_cpu = sample.has_kernel_records_lost = 1;
		sample.cpu = cpus[i].cpu;
		packet.perf_sample = &sample;
		put_packet_with_time(perfetto, &packet, perfetto->last);
	}
}

static int perfetto_write(struct trace_reader *reader, const struct export_options *options,
			  FILE *to, struct stackmap_error *error)
{
	struct perfetto perfetto = {.reader = reader,
				    .filter = &options->filter,
				    .has_states = trace_reader_info(reader)->has_times,
				    .to = to};
	int err;

	perfetto.tasks = INTERN(struct named_task);
	perfetto.paths = TEXT_SET;
	err = event_stacks_create(perfetto.reader, &options->naming, &perfetto.stacks)
		       ?: wakeups_create(perfetto.reader, &perfetto.wakeups)
		       ?: origins_create(perfetto.reader, &perfetto.origins)
		       ?: frame_tree_create(&perfetto.tree);
	trace_reader_sources(reader, &perfetto.sources);
	if (!err)
		put_clock_snapshot(&perfetto);
	err = err ?: trace_reader_events(reader, write_event_if_filter_passes, &perfetto, error);
	if (!err)
		write_ring_losses_to_trace(&perfetto);
	if (err == -ENOMEM)
		error_set(error, ENOMEM, "perfetto: not enough memory");
	intern_clear(&perfetto.tasks);
	text_set_clear(&perfetto.paths);
	wakeups_free(&perfetto.wakeups);
	origins_free(&perfetto.origins);
	frame_tree_free(&perfetto.tree);
	event_stacks_free(&perfetto.stacks);
	free(perfetto.has_stack);
	free(perfetto.has_frame);
	free(perfetto.frame_ids);
	return err > 0 ? 0 : err;
}

const struct export_format perfetto_format = {
	.name = "perfetto",
	.binary = true,
	.write = perfetto_write,
};
