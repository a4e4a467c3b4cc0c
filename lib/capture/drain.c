/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From rings to the file. An event's stack ids are looked up in the stack map's own memory when
 * they first occur; the stack, and the mappings its frames lie in, go out before the event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/instance.h"
#include "stack_map.h"
#include "stack_pack.h"
#include "symbol/mapped_file.h"

#define PATH_BYTES_MAX 4096
#define TAIL_STRIDE 1024 /* positions given back to the writers at a time */

/* A stamp read now may be this much newer than when reading began. */
#define READING_NS_MAX (3600ULL * 1000000000)

/* The latest time not after `limit` of which `low` is the lower part. */
static u64 unwrap(u64 limit, u64 low)
{
	u64 period = 1ULL << STAMP_TIME_BITS;
	u64 time = (limit & ~(period - 1)) | low;

	return time > limit && time >= period ? time - period : time;
}

static void begin_reading(struct capture *capture)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	capture->time_limit = now.tv_sec * 1000000000ULL + now.tv_nsec + READING_NS_MAX;
}

static int write_mapping(struct capture *capture, struct trace_writer *writer, u32 number)
{
	char path[PATH_BYTES_MAX];
	struct trace_mapping mapping = {};

	if (number >= MAPPINGS_MAX || capture->mapping_written[number])
		return 0;
	capture->mapping_written[number] = 1;
	mapped_file_identify(number, capture_mapping(capture, number), &mapping, path,
			     sizeof(path));
	return trace_writer_mapping(writer, &mapping);
}

static int write_frame_mapping(struct capture *capture, struct trace_writer *writer, u64 frame)
{
	return frame && !FRAME_IS_KERNEL(frame)
		       ? write_mapping(capture, writer, FRAME_MAPPING(frame))
		       : 0;
}

static int write_stack(struct capture *capture, struct trace_writer *writer,
		       const struct trace_stack *stack, u32 *index)
{
	u32 i;

	for (i = 0; i < stack->depth; i++) {
		int result = write_frame_mapping(capture, writer, stack->frames[i]);

		if (result)
			return result;
	}
	return trace_writer_stack(writer, stack, index);
}

static int stack_of_id(struct capture *capture, struct trace_writer *writer, u32 id, u32 *index)
{
	u32 slot = STACK_ID_INDEX(id, capture->plan.config.bits), flags, i;
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack = {.id = id, .frames = frames};
	struct table_view *element;
	int result;

	if (capture->index_of_slot[slot]) {
		*index = capture->index_of_slot[slot] - 1;
		return 0;
	}
	result = stack_map_find(capture->table.memory, &capture->plan.geometry, id, &element);
	if (result)
		return result;
	flags = IDENTITY_FLAGS(element->identity);
	stack.depth = IDENTITY_DEPTH(element->identity);
	stack.flags = flags & (STACK_TRUNCATED | STACK_USER);
	stack.generation = ((struct table_header *)capture->table.memory)->generation;
	for (i = 0; i < stack.depth; i++)
		frames[i] = stack_frame(element->word, flags, i);
	result = write_stack(capture, writer, &stack, index);
	if (!result)
		capture->index_of_slot[slot] = *index + 1;
	return result;
}

static int stack_of_run(struct capture *capture, struct trace_writer *writer,
			const struct ring_view *ring, u64 position, u32 run, u32 *index)
{
	u64 frames[STACK_WORDS_MAX];
	u32 flags;
	struct trace_stack stack = {.frames = frames};

	stack.depth = ring_read_run(ring, position, run, frames, &flags);
	if (!stack.depth)
		return -ENOENT;
	stack.flags = flags & (STACK_TRUNCATED | STACK_USER);
	return write_stack(capture, writer, &stack, index);
}

/* A stack field of an event to its index, or to TRACE_NO_STACK with the reason. */
static int resolve(struct capture *capture, struct trace_writer *writer,
		   const struct ring_view *ring, u64 position, u32 state, u32 field, u32 *index,
		   u8 *reason)
{
	int result = -ENOENT;

	*reason = field < REASON_COUNT && state == STATE_NONE ? field : REASON_GONE;
	if (state == STATE_ID)
		result = stack_of_id(capture, writer, field, index);
	else if (state == STATE_INLINE)
		result = stack_of_run(capture, writer, ring, position, field, index);
	if (result)
		*index = TRACE_NO_STACK;
	return result == -ENOENT || result == -ESTALE ? 0 : result;
}

static void count_event(struct capture *capture, const struct trace_event *event)
{
	if (event->kernel == TRACE_NO_STACK)
		capture->written.kernel_reasons[event->kernel_reason]++;
	if (event->user == TRACE_NO_STACK)
		capture->written.user_reasons[event->user_reason]++;
	capture->cpus[event->cpu].events++;
}

static int write_event(struct capture *capture, struct trace_writer *writer,
		       const struct ring_view *ring, u64 position, u32 cpu)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 flags = STAMP_FLAGS(slot->stamp);
	struct trace_event event = {
		.time = unwrap(capture->time_limit, STAMP_TIME(slot->stamp)),
		.tid = slot->tid,
		.cpu = cpu,
		.kind = STAMP_KIND(slot->stamp),
		.leaf = capture->plan.config.leaf ? slot->extra[0] : 0,
	};
	int result;

	result = resolve(capture, writer, ring, position, EVENT_KERNEL_STATE(flags), slot->kernel,
			 &event.kernel, &event.kernel_reason);
	result = result
			 ?: resolve(capture, writer, ring, position, EVENT_USER_STATE(flags),
				    slot->user, &event.user, &event.user_reason);
	result = result ?: write_frame_mapping(capture, writer, event.leaf);
	result = result ?: task_log_need(capture->tasks, writer, event.tid);
	count_event(capture, &event);
	return trace_writer_event(writer, &event) ?: result;
}

static int write_task(struct capture *capture, struct trace_writer *writer,
		      const struct ring_view *ring, u64 position, u32 cpu)
{
	const struct task_slot *slot = ring_slot(ring, position);

	(void)cpu; /* names are accounted for as a whole */
	return task_log_record(capture->tasks, writer, slot,
			       unwrap(capture->time_limit, STAMP_TIME(slot->stamp)));
}

/* Moves the records of one ring that are committed; what follows one that is not waits for it. */
static int drain_ring(struct capture *capture, struct trace_writer *writer, struct ring_view ring,
		      u32 cpu,
		      int (*write)(struct capture *capture, struct trace_writer *writer,
				   const struct ring_view *ring, u64 position, u32 cpu))
{
	u64 head = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	u64 position = ring.header->tail;
	int result = 0;

	for (; position < head; position++) {
		enum slot_state state = ring_slot_state(&ring, position);
		int error = 0;

		if (state == SLOT_ABSENT)
			break;
		if (state == SLOT_EVENT)
			error = write(capture, writer, &ring, position, cpu);
		result = result ?: error;
		if (position % TAIL_STRIDE == 0)
			__atomic_store_n(&ring.header->tail, position, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&ring.header->tail, position, __ATOMIC_RELEASE);
	return result;
}

static u32 fill_percent(const struct ring_view *ring)
{
	return (ring->header->head - ring->header->tail) * 100 / ring->count;
}

int capture_drain(struct capture *capture, struct trace_writer *writer, u32 *fill)
{
	u32 cpu, fullest = 0;
	int result = 0;

	begin_reading(capture);
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		int error = drain_ring(capture, writer, capture_task_ring(capture, cpu), cpu,
				       write_task);

		result = result ?: error;
	}
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);
		u32 filled = fill_percent(&ring);
		int error = drain_ring(capture, writer, ring, cpu, write_event);

		result = result ?: error;
		fullest = filled > fullest ? filled : fullest;
	}
	if (fill)
		*fill = fullest;
	return result;
}

/* All that a flight ring still holds, oldest first. Before position `count` there was none: a slot
 * never written would pass for the event at position 0. */
static int snapshot_ring(struct capture *capture, struct trace_writer *writer,
			 struct ring_view ring, u32 cpu,
			 int (*write)(struct capture *capture, struct trace_writer *writer,
				      const struct ring_view *ring, u64 position, u32 cpu))
{
	u64 head = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	u64 position = head > 2UL * ring.count ? head - ring.count : ring.count;
	int result = 0;

	for (; position < head; position++)
		if (ring_slot_state(&ring, position) == SLOT_EVENT) {
			int error = write(capture, writer, &ring, position, cpu);

			result = result ?: error;
		}
	return result;
}

/* A slot that a writer could not claim still holds the event of an earlier lap: gone from the
 * sequence, and not counted by whoever would have overwritten it. */
static u64 passed_over(const struct ring_view *ring)
{
	u64 head = ring->header->head, position = head - ring->count, count = 0;

	for (; position < head; position++) {
		u32 commit = *(const u32 *)ring_slot(ring, position);

		count += commit && !(commit & (COMMIT_BUSY | COMMIT_CONTINUED)) &&
			 commit != COMMIT_OF(position);
	}
	return count;
}

int capture_snapshot(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result = 0;

	begin_reading(capture);
	capture_forget_written(capture);
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		int error = snapshot_ring(capture, writer, capture_task_ring(capture, cpu), cpu,
					  write_task);

		result = result ?: error;
	}
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);
		int error = snapshot_ring(capture, writer, ring, cpu, write_event);

		result = result ?: error;
		capture->cpus[cpu].passed_over = passed_over(&ring);
	}
	return result;
}
