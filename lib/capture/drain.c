/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From rings to the file.
 *
 * A task may have been on one CPU at the event and on another when its user stack was delivered. So
 * all rings are read twice up to the same place: first the deliveries, then the events, most of
 * which find their answer there. Those that do not get a promise (capture/read/answer_join.h).
 */
#include <time.h>

#include <bpf/libbpf.h>

#include "capture/account.h"
#include "capture/answers.h"
#include "capture/assisted.h"
#include "capture/event_stacks.h"
#include "capture/generation_reader.h"
#include "capture/instance.h"
#include "capture/load/skeleton.h"
#include "capture/naming.h"
#include "capture/settle.h"
#include "clock.h"
#include "interrupt.h"

#define WAIT_MS 1
#define WAIT_WRITER_MS 1000

#define SETTLE_MS 50		/* then the rings are read again */
#define SETTLE_SNAPSHOT_MS 5000 /* somebody waits for it, and holds the instance's lock */

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
	capture->time_limit = clock_ns(CLOCK_MONOTONIC) + READING_NS_MAX;
	task_log_round(capture->tasks);
}

static int user_stack(struct capture *capture, struct trace_writer *writer,
		      const struct ring_view *ring, u64 position, struct trace_event *event,
		      struct stack_name *name)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 state = EVENT_USER_STATE(STAMP_FLAGS(slot->stamp)), field = slot->user;

	if (state == STATE_COOKIE && capture->join)
		return answers_name(capture, writer, field, event, name);
	return event_stack(capture, writer, ring, position, state, field, name);
}

static void count_event(struct capture *capture, const struct trace_event *event,
			const struct stack_name *user)
{
	if (event->kernel == TRACE_NO_STACK)
		capture->written.kernel_reasons[event->kernel_reason]++;
	answers_count(capture, user, 1);
	capture->cpus[event->cpu].events++;
}

static int write_event(struct capture *capture, struct trace_writer *writer,
		       const struct ring_view *ring, u64 position, u32 cpu)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 kernel_state = EVENT_KERNEL_STATE(STAMP_FLAGS(slot->stamp));
	struct stack_name kernel = {}, user = {};
	struct trace_event event = {
		.time = unwrap(capture->time_limit, STAMP_TIME(slot->stamp)),
		.tid = slot->tid,
		.cpu = cpu,
		.kind = STAMP_KIND(slot->stamp),
		.leaf = capture->plan.config.leaf ? slot->extra[0] : 0,
		.value = capture->plan.config.value ? slot->extra[capture->plan.config.leaf] : 0,
	};
	int result;

	if (event.kind >= capture->sources->count)
		return 0;
	result = event_stack(capture, writer, ring, position, kernel_state, slot->kernel, &kernel);
	result = result ?: user_stack(capture, writer, ring, position, &event, &user);
	result = result ?: event_stack_mapping(capture, writer, event.leaf);
	result = result ?: task_log_need(capture->tasks, writer, event.tid);
	event.kernel = kernel.index;
	event.kernel_reason = kernel.reason;
	event.user = user.index;
	event.user_reason = user.reason;
	count_event(capture, &event, &user);
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
typedef int (*take_record)(struct capture *capture, struct trace_writer *writer,
			   const struct ring_view *ring, u64 position, u32 cpu);

/* The records from `position` up to `end`. */
static int each_record(struct capture *capture, struct trace_writer *writer,
		       const struct ring_view *ring, u64 position, u64 end, u32 cpu,
		       take_record take)
{
	int result = 0;

	for (; position < end; position++)
		if (ring_slot_state(ring, position) == SLOT_EVENT) {
			int error = take(capture, writer, ring, position, cpu);

			result = result ?: error;
		}
	return result;
}

static int take_delivery(struct capture *capture, struct trace_writer *writer,
			 const struct ring_view *ring, u64 position, u32 cpu)
{
	(void)cpu;
	return is_delivery(ring, position) ? answers_deliver(capture, writer, ring, position) : 0;
}

/* Moves the records up to `end`, and gives their slots back in steps. */
static int drain_ring(struct capture *capture, struct trace_writer *writer, struct ring_view ring,
		      u64 end, u32 cpu, take_record take)
{
	u64 position = ring.header->tail;
	int result = 0;

	while (position < end) {
		u64 next = position + TAIL_STRIDE < end ? position + TAIL_STRIDE : end;
		u64 before = capture->cpus[cpu].events;
		int error = each_record(capture, writer, &ring, position, next, cpu, take);

		result = result ?: error;
		ring.header->consumed += capture->cpus[cpu].events - before;
		__atomic_store_n(&ring.header->tail, next, __ATOMIC_RELEASE);
		position = next;
	}
	return result;
}

static int drain_tasks(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_task_ring(capture, cpu);
		u64 end = end_within(&ring, capture->cpus[cpu].task_limit);
		int error = drain_ring(capture, writer, ring, end, cpu, write_task);

		result = result ?: error;
	}
	return result;
}

static u32 fill_percent(const struct ring_view *ring)
{
	return (ring->header->head - ring->header->tail) * 100 / ring->count;
}

static int drain_deliveries(struct capture *capture, struct trace_writer *writer, u32 *fill)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);
		u32 filled = fill_percent(&ring);

		*fill = filled > *fill ? filled : *fill;
		capture->cpus[cpu].end = end_within(&ring, capture->cpus[cpu].limit);
		if (capture->join && !result)
			result = each_record(capture, writer, &ring, ring.header->tail,
					     capture->cpus[cpu].end, cpu, take_delivery);
	}
	return result;
}

static int drain_events(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		int error = drain_ring(capture, writer, capture_ring(capture, cpu),
				       capture->cpus[cpu].end, cpu, write_event);

		result = result ?: error;
	}
	return result;
}

/* An epoch ends when each ring was read to where its head was when the epoch began. */
static int pass_epoch(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu, cpus = capture->plan.config.cpus;

	for (cpu = 0; cpu < cpus; cpu++)
		if (capture->cpus[cpu].end < capture->cpus[cpu].epoch_end)
			return 0;
	for (cpu = 0; cpu < cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);

		capture->cpus[cpu].epoch_end =
			__atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	}
	return answers_epoch(capture, writer);
}

int capture_drain(struct capture *capture, struct trace_writer *writer, u32 *fill)
{
	u32 fullest = 0;
	int result;

	begin_reading(capture);
	generation_look(capture);
	result = drain_tasks(capture, writer);
	result = answers_find(capture, writer, &fullest) ?: result;
	result = drain_deliveries(capture, writer, &fullest) ?: result;
	result = drain_events(capture, writer) ?: result;
	if (capture->join)
		result = pass_epoch(capture, writer) ?: result;
	result = capture_take_names(capture, writer) ?: result;
	result = generation_settle(capture) ?: result;
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
static void limit_to_heads(struct capture *capture)
{
	u32 cpu;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++)
		capture->cpus[cpu].task_limit = head_of(capture_task_ring(capture, cpu));
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++)
		capture->cpus[cpu].limit = head_of(capture_ring(capture, cpu));
}

static void lift_limits(struct capture *capture)
{
	u32 cpu;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++)
		capture->cpus[cpu].limit = capture->cpus[cpu].task_limit = 0;
}

static bool is_limit_reached(const struct capture *capture)
{
	u32 cpu;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);

		if (ring.header->tail < capture->cpus[cpu].limit)
			return false;
	}
	return true;
}

/* A program that was interrupted may be in the middle of its slot. */
static int drain_to_limit(struct capture *capture, struct trace_writer *writer)
{
	int result = capture_drain(capture, writer, NULL);
	u32 ms;

	for (ms = 0; !is_limit_reached(capture) && ms < WAIT_WRITER_MS; ms += WAIT_MS) {
		int error = capture_drain(capture, writer, NULL);

		result = result ?: error;
		interrupt_nap(WAIT_MS);
	}
	return result;
}

/* There may be thousands who sleep: most are looked at before the end, as reading goes on. */
static int settle_sleepers(struct capture *capture, struct trace_writer *writer)
{
	struct pending_list list = {};
	int fd = bpf_map__fd(capture_programs(capture)->maps.deferrals);
	int result = capture_drain(capture, writer, NULL), error = pending_list_read(fd, &list);
	u32 next = 0;

	while (!error && next < list.count) {
		error = settle_look(capture, &list, &next, SETTLE_MS);
		result = capture_drain(capture, writer, NULL) ?: result;
	}
	pending_list_clear(&list);
	return result ?: error;
}

/* Whoever does not wait any more when it is looked, has its answer in a ring: it may be behind the
 * events that are of this file. */
static int answer_waiting(struct capture *capture, struct trace_writer *writer)
{
	u32 fill, next = 0;
	int result = answers_look(capture);

	result = settle_look(capture, &capture->pending, &next, SETTLE_MS) ?: result;
	result = answers_find(capture, writer, &fill) ?: result;
	result = drain_deliveries(capture, writer, &fill) ?: result;
	return answers_give_up(capture, writer) ?: result;
}

/* What has come since the limit was set: it may name tasks of this file, and is of the next too. */
static int copy_tasks(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_task_ring(capture, cpu);
		int error = each_record(capture, writer, &ring, ring.header->tail,
					committed_end(&ring), cpu, write_task);

		result = result ?: error;
	}
	return result;
}

/* A swap before it is seen before the limits are set: so what names a stack of the generation
 * before is read when the window has ended, and the next swap may come. */
int capture_end_window(struct capture *capture, struct trace_writer *writer)
{
	int result = capture->join ? settle_sleepers(capture, writer) : 0;

	generation_look(capture);
	limit_to_heads(capture);
	result = drain_to_limit(capture, writer) ?: result;
	lift_limits(capture);
	result = copy_tasks(capture, writer) ?: result;
	if (capture->join)
		result = answer_waiting(capture, writer) ?: result;
	return result;
}

/* Where the oldest record lies. Before position `count` there was none: a slot never written would
 * pass for the event at position 0. */
static u64 oldest(const struct capture *capture, const struct ring_view *ring, u64 head)
{
	if (!capture->plan.config.flight)
		return ring->header->tail;
	return head > 2UL * ring->count ? head - ring->count : ring->count;
}

/* All that a ring holds, oldest first. */
static int snapshot_ring(struct capture *capture, struct trace_writer *writer,
			 struct ring_view ring, u32 cpu, take_record take)
{
	u64 head = __atomic_load_n(&ring.header->head, __ATOMIC_ACQUIRE);
	u64 position = oldest(capture, &ring, head);

	return each_record(capture, writer, &ring, position, head, cpu, take);
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

static int snapshot_tasks(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		int error = snapshot_ring(capture, writer, capture_task_ring(capture, cpu), cpu,
					  write_task);

		result = result ?: error;
	}
	return result ?: task_log_lost(capture->tasks, writer);
}

static int snapshot_rings(struct capture *capture, struct trace_writer *writer, take_record take)
{
	u32 cpu;
	int result = 0;

	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		int error = snapshot_ring(capture, writer, capture_ring(capture, cpu), cpu, take);

		result = result ?: error;
	}
	return result;
}

/* What has been answered by now, and who waits: of the frozen moment, or now. */
static int snapshot_answers(struct capture *capture, struct trace_writer *writer)
{
	u32 fill, next = 0;
	int result = 0;

	if (!capture->join)
		return 0;
	if (!capture->rings.live)
		result = answers_look(capture);
	result = result ?: snapshot_rings(capture, writer, take_delivery);
	if (capture->running)
		result = result
				 ?: settle_look(capture, &capture->pending, &next,
						SETTLE_SNAPSHOT_MS);
	result = result ?: answers_find(capture, writer, &fill);
	assisted_forget_looked(capture->assisted);
	return result;
}

int capture_snapshot(struct capture *capture, struct trace_writer *writer)
{
	u32 cpu;
	int result;

	begin_reading(capture);
	account_begin(capture);
	result = capture_forget_written(capture);
	if (result)
		return result;
	result = snapshot_tasks(capture, writer);
	result = snapshot_answers(capture, writer) ?: result;
	result = snapshot_rings(capture, writer, write_event) ?: result;
	for (cpu = 0; cpu < capture->plan.config.cpus; cpu++) {
		struct ring_view ring = capture_ring(capture, cpu);

		capture->cpus[cpu].passed_over =
			capture->plan.config.flight ? passed_over(&ring) : 0;
	}
	return result;
}

int capture_assist(struct capture *capture)
{
	u32 fill;

	return capture->assisted ? assisted_consume(capture->assisted, &fill) : 0;
}
