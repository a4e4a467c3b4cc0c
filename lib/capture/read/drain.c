/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From rings to the file.
 *
 * A task may have been on one CPU at the event and on another when its user stack was delivered. So
 * all rings are read twice up to the same place: first the deliveries, then the events, most of
 * which find their answer there. Those that do not get a promise (capture/read/answer_join.h).
 */
#include "capture/read/drain.h"

#include <time.h>

#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"
#include "capture/read/account.h"
#include "capture/read/deferred.h"
#include "capture/read/event_stacks.h"
#include "capture/read/generation_reader.h"
#include "capture/read/naming.h"
#include "capture/read/unwind_blocked.h"
#include "clock.h"
#include "interrupt.h"

#define WAIT_MS 1
#define WAIT_WRITER_MS 1000

#define PEEK_MS 50	      /* then the rings are read again */
#define PEEK_SNAPSHOT_MS 5000 /* somebody waits for it, and holds the instance's lock */

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

static void begin_reading(struct recording *recording)
{
	recording->time_limit = clock_ns(CLOCK_MONOTONIC) + READING_NS_MAX;
	task_log_round(recording->tasks);
}

static int user_stack(struct recording *recording, const struct ring_view *ring, u64 position,
		      struct trace_event *event, struct stack_ref *ref)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 state = EVENT_USER_STATE(STAMP_FLAGS(slot->stamp)), field = slot->user;

	if (state == STATE_COOKIE && recording->deferred)
		return deferred_ref(recording, field, event, ref);
	return event_stack(recording, ring, position, state, field, ref);
}

static void count_event(struct recording *recording, const struct trace_event *event,
			const struct stack_ref *user)
{
	if (event->kernel == TRACE_NO_STACK)
		recording->written.kernel_reasons[event->kernel_reason]++;
	account_user_stack(recording, user, 1);
	recording->cpus[event->cpu].events++;
}

static int write_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 kernel_state = EVENT_KERNEL_STATE(STAMP_FLAGS(slot->stamp));
	struct stack_ref kernel = {}, user = {};
	struct trace_event event = {
		.time = unwrap(recording->time_limit, STAMP_TIME(slot->stamp)),
		.tid = slot->tid,
		.cpu = cpu,
		.kind = STAMP_KIND(slot->stamp),
		.leaf = recording->loaded->plan.config.leaf ? slot->extra[0] : 0,
		.value = recording->loaded->plan.config.value
				 ? slot->extra[recording->loaded->plan.config.leaf]
				 : 0,
	};
	int result;

	if (event.kind >= recording->loaded->sources->count)
		return 0;
	result = event_stack(recording, ring, position, kernel_state, slot->kernel, &kernel);
	result = result ?: user_stack(recording, ring, position, &event, &user);
	result = result ?: event_stack_mapping(recording, event.leaf);
	result = result ?: task_log_need(recording->tasks, recording->writer, event.tid);
	event.kernel = kernel.index;
	event.kernel_reason = kernel.reason;
	event.user = user.index;
	event.user_reason = user.reason;
	count_event(recording, &event, &user);
	return trace_writer_event(recording->writer, &event) ?: result;
}

static int write_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu)
{
	const struct task_slot *slot = ring_slot(ring, position);

	(void)cpu; /* names are accounted for as a whole */
	return task_log_record(recording->tasks, recording->writer, slot,
			       unwrap(recording->time_limit, STAMP_TIME(slot->stamp)));
}

static bool is_delivery(const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);

	return STAMP_KIND(slot->stamp) == KIND_DELIVERY;
}

/* How far the records of a ring are committed; what follows one that is not waits for it. */
static u64 committed_end(const struct ring_view *ring)
{
	u64 head = __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);
	u64 position = ring->header->tail;

	while (position < head && ring_slot_state(ring, position) != SLOT_ABSENT)
		position++;
	return position;
}

/* The same, as far as the limit; 0: there is none. */
static u64 end_within(const struct ring_view *ring, u64 limit)
{
	u64 end = committed_end(ring);

	return limit && limit < end ? limit : end;
}

/* Does with one record what is to be done with it. */
typedef int (*take_record)(struct recording *recording, const struct ring_view *ring, u64 position,
			   u32 cpu);

/* The records from `position` up to `end`. */
static int each_record(struct recording *recording, const struct ring_view *ring, u64 position,
		       u64 end, u32 cpu, take_record take)
{
	int result = 0;

	for (; position < end; position++)
		if (ring_slot_state(ring, position) == SLOT_EVENT) {
			int error = take(recording, ring, position, cpu);

			result = result ?: error;
		}
	return result;
}

static int take_delivery(struct recording *recording, const struct ring_view *ring, u64 position,
			 u32 cpu)
{
	(void)cpu;
	return is_delivery(ring, position) ? deferred_deliver(recording, ring, position) : 0;
}

/* Moves the records up to `end`, and gives their slots back in steps. */
static int drain_ring(struct recording *recording, struct ring_view ring, u64 end, u32 cpu,
		      take_record take)
{
	u64 position = ring.header->tail;
	int result = 0;

	while (position < end) {
		u64 next = position + TAIL_STRIDE < end ? position + TAIL_STRIDE : end;
		u64 before = recording->cpus[cpu].events;
		int error = each_record(recording, &ring, position, next, cpu, take);

		result = result ?: error;
		ring.header->consumed += recording->cpus[cpu].events - before;
		__atomic_store_n(&ring.header->tail, next, __ATOMIC_RELEASE);
		position = next;
	}
	return result;
}

static int drain_tasks(struct recording *recording)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_task_ring(recording->loaded, cpu);
		u64 end = end_within(&ring, recording->cpus[cpu].task_limit);
		int error = drain_ring(recording, ring, end, cpu, write_task);

		result = result ?: error;
	}
	return result;
}

static u32 fill_percent(const struct ring_view *ring)
{
	return (ring->header->head - ring->header->tail) * 100 / ring->count;
}

static int drain_deliveries(struct recording *recording, u32 *fill)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);
		u32 filled = fill_percent(&ring);

		*fill = filled > *fill ? filled : *fill;
		recording->cpus[cpu].end = end_within(&ring, recording->cpus[cpu].limit);
		if (recording->deferred && !result)
			result = each_record(recording, &ring, ring.header->tail,
					     recording->cpus[cpu].end, cpu, take_delivery);
	}
	return result;
}

static int drain_events(struct recording *recording)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		int error = drain_ring(recording, loaded_ring(recording->loaded, cpu),
				       recording->cpus[cpu].end, cpu, write_event);

		result = result ?: error;
	}
	return result;
}

/* An epoch ends when each ring was read to where its head was when the epoch began. */
static int pass_epoch(struct recording *recording)
{
	u32 cpu, cpus = recording->loaded->plan.config.cpus;

	for (cpu = 0; cpu < cpus; cpu++)
		if (recording->cpus[cpu].end < recording->cpus[cpu].epoch_end)
			return 0;
	for (cpu = 0; cpu < cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].epoch_end =
			__atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	}
	return deferred_pass_epoch(recording);
}

int recording_drain(struct recording *recording, u32 *fill)
{
	u32 fullest = 0;
	int result;

	begin_reading(recording);
	generation_peek(recording);
	result = drain_tasks(recording);
	if (recording->deferred)
		result = deferred_consume(recording, &fullest) ?: result;
	result = drain_deliveries(recording, &fullest) ?: result;
	result = drain_events(recording) ?: result;
	if (recording->deferred)
		result = pass_epoch(recording) ?: result;
	result = naming_take(recording) ?: result;
	result = generation_retire(recording) ?: result;
	if (fill)
		*fill = fullest;
	return result;
}

static u64 head_of(struct ring_view ring)
{
	return __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
}

/* Names first: that of a task which has events behind the limit comes behind it too, as the latest
 * when the task exits. */
static void limit_to_heads(struct recording *recording)
{
	u32 cpu;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].task_limit = head_of(loaded_task_ring(recording->loaded, cpu));
	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].limit = head_of(loaded_ring(recording->loaded, cpu));
}

static void lift_limits(struct recording *recording)
{
	u32 cpu;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		recording->cpus[cpu].limit = recording->cpus[cpu].task_limit = 0;
}

static bool is_limit_reached(const struct recording *recording)
{
	u32 cpu;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		if (ring.header->tail < recording->cpus[cpu].limit)
			return false;
	}
	return true;
}

/* A program that was interrupted may be in the middle of its slot. */
static int drain_to_limit(struct recording *recording)
{
	int result = recording_drain(recording, NULL);
	u32 ms;

	for (ms = 0; !is_limit_reached(recording) && ms < WAIT_WRITER_MS; ms += WAIT_MS) {
		int error = recording_drain(recording, NULL);

		result = result ?: error;
		interrupt_nap(WAIT_MS);
	}
	return result;
}

/* There may be thousands who sleep: most are looked at before the end, as reading goes on. */
static int peek_sleepers(struct recording *recording)
{
	struct pending_list list = {};
	int fd = bpf_map__fd(loaded_programs(recording->loaded)->maps.deferrals);
	int result = recording_drain(recording, NULL), error = pending_list_read(fd, &list);
	u32 next = 0;

	while (!error && next < list.count) {
		error = unwind_blocked_peek(recording, &list, &next, PEEK_MS);
		result = recording_drain(recording, NULL) ?: result;
	}
	pending_list_clear(&list);
	return result ?: error;
}

/* Whoever does not wait any more when it is looked, has its answer in a ring: it may be behind the
 * events that are of this file. */
static int answer_waiting(struct recording *recording)
{
	u32 fill, next = 0;
	int result = deferred_read_open(recording);

	result = unwind_blocked_peek(recording, &recording->deferred->open, &next, PEEK_MS)
			 ?: result;
	result = deferred_consume(recording, &fill) ?: result;
	result = drain_deliveries(recording, &fill) ?: result;
	return deferred_give_up(recording) ?: result;
}

/* What has come since the limit was set: it may name tasks of this file, and is of the next too. */
static int copy_tasks(struct recording *recording)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_task_ring(recording->loaded, cpu);
		int error = each_record(recording, &ring, ring.header->tail, committed_end(&ring),
					cpu, write_task);

		result = result ?: error;
	}
	return result;
}

/* A swap before it is seen before the limits are set: so what names a stack of the generation
 * before is read when the window has ended, and the next swap may come. */
int recording_end_window(struct recording *recording)
{
	int result = recording->deferred ? peek_sleepers(recording) : 0;

	generation_peek(recording);
	limit_to_heads(recording);
	result = drain_to_limit(recording) ?: result;
	lift_limits(recording);
	result = copy_tasks(recording) ?: result;
	if (recording->deferred)
		result = answer_waiting(recording) ?: result;
	return result;
}

/* Where the oldest record lies. Before position `count` there was none: a slot never written would
 * pass for the event at position 0. */
static u64 oldest(const struct loaded *loaded, const struct ring_view *ring, u64 head)
{
	if (!loaded->plan.config.flight)
		return ring->header->tail;
	return head > 2UL * ring->count ? head - ring->count : ring->count;
}

/* All that a ring holds, oldest first. */
static int snapshot_ring(struct recording *recording, struct ring_view ring, u32 cpu,
			 take_record take)
{
	u64 head = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	u64 position = oldest(recording->loaded, &ring, head);

	return each_record(recording, &ring, position, head, cpu, take);
}

/* A slot that a writer could not claim still holds the event of an earlier lap: gone from the
 * sequence, and not counted by whoever would have overwritten it. */
static u64 passed_over(const struct ring_view *ring)
{
	u64 head = ring->header->head, position = head - ring->count, count = 0;

	for (; position < head; position++) {
		u32 commit = *(const u32 *)ring_slot(ring, position);

		count += commit && !(commit & (COMMIT_BUSY | COMMIT_CONTINUED)) &&
			 commit != COMMIT_OF(position) && !is_delivery(ring, position);
	}
	return count;
}

static int snapshot_tasks(struct recording *recording)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		int error = snapshot_ring(recording, loaded_task_ring(recording->loaded, cpu), cpu,
					  write_task);

		result = result ?: error;
	}
	return result ?: task_log_lost(recording->tasks, recording->writer);
}

static int snapshot_rings(struct recording *recording, take_record take)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		int error =
			snapshot_ring(recording, loaded_ring(recording->loaded, cpu), cpu, take);

		result = result ?: error;
	}
	return result;
}

/* What has been answered by now, and who waits: of the frozen moment, or now. */
static int snapshot_answers(struct recording *recording)
{
	u32 fill, next = 0;
	int result = 0;

	if (!recording->deferred)
		return 0;
	if (!loaded_is_frozen(recording->loaded))
		result = deferred_read_open(recording);
	result = result ?: snapshot_rings(recording, take_delivery);
	if (recording->loaded->running)
		result = result
				 ?: unwind_blocked_peek(recording, &recording->deferred->open,
							&next, PEEK_SNAPSHOT_MS);
	result = result ?: deferred_consume(recording, &fill);
	return result;
}

int recording_snapshot(struct recording *recording)
{
	u32 cpu;
	int result;

	begin_reading(recording);
	account_begin(recording);
	result = snapshot_tasks(recording);
	result = snapshot_answers(recording) ?: result;
	result = snapshot_rings(recording, write_event) ?: result;
	for (cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].passed_over =
			recording->loaded->plan.config.flight ? passed_over(&ring) : 0;
	}
	return result;
}
