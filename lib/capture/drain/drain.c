/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A task may deliver its user stack on another CPU than that of the event. All rings are therefore
 * read twice up to the same position: first the deferred stacks, then the events. Most events find
 * their stack; the others get a placeholder (capture/drain/deferred_stack.h).
 */
#include "capture/drain/drain.h"

#include <string.h>
#include <time.h>

#include "capture/drain/alive_events.h"
#include "capture/drain/counted_events.h"
#include "capture/drain/deferred.h"
#include "capture/drain/event_stacks.h"
#include "capture/drain/file_ledger.h"
#include "capture/drain/late_contexts.h"
#include "capture/drain/recording.h"
#include "capture/drain/span_stacks.h"
#include "capture/drain/symbols.h"
#include "capture/drain/thread_times.h"
#include "capture/load/skeleton.h"
#include "clock.h"
#include "error.h"
#include "symbol/symbolizer/context_finder.h"

/* The most time in ns by which an event that a round reads may be later than the begin of the
 * round. */
#define READING_NS_MAX (3600ULL * 1000000000)

/* Returns the full time of a stamp, which has only the lower bits of the time: the latest time not
 * after `limit` whose lower bits are `low`. */
static u64 unwrap_time(u64 limit, u64 low)
{
	u64 period = 1ULL << STAMP_TIME_BITS;
	u64 time = (limit & ~(period - 1)) | low;

	return time > limit && time >= period ? time - period : time;
}

void records_set_time_limit_of_round(struct recording *recording)
{
	recording->time_limit = clock_ns(CLOCK_MONOTONIC) + READING_NS_MAX;
	task_log_begin_round(recording->tasks);
}

int records_fill_stacks(struct recording *recording, const struct ring_view *ring, u64 position,
			const struct stack_fields *fields, struct trace_event *event,
			struct stack_ref *user)
{
	u32 kernel_state = EVENT_KERNEL_STATE(fields->flags);
	u32 user_state = EVENT_USER_STATE(fields->flags);
	struct stack_ref kernel = STACK_REF_NONE;
	int result;

	*user = STACK_REF_NONE;
	result = event_stack_write_from_field(recording, ring, position, kernel_state,
					      fields->kernel, &kernel);
	if (!result && user_state == STATE_COOKIE && recording->deferred)
		result = deferred_find_stack_for_event(recording, fields->user, event, user);
	else if (!result)
		result = event_stack_write_from_field(recording, ring, position, user_state,
						      fields->user, user);
	result = result ?: event_stack_write_mapping(recording, event->leaf);
	result = result ?: task_log_ensure_thread(recording->tasks, recording->writer, event->tid);
	event->kernel = kernel.index;
	event->kernel_reason = kernel.reason;
	event->user = user->index;
	event->user_reason = user->reason;
	return result;
}

void records_count_stacks(struct recording *recording, const struct trace_event *event,
			  const struct stack_ref *user)
{
	u64 events = event_stands_for(event);

	if (event->kernel == TRACE_NO_STACK)
		recording->written.kernel_reasons[event->kernel_reason] += events;
	file_ledger_count_user_stack(recording, user, events);
	symbols_note_missing_rules(recording, user, event->leaf, events);
}

int records_take_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu)
{
	const struct event_slot *slot = ring_slot(ring, position);
	const struct stack_fields fields = {STAMP_FLAGS(slot->stamp), slot->kernel, slot->user};
	struct trace_event event = {
		.time = unwrap_time(recording->time_limit, STAMP_TIME(slot->stamp)),
		.tid = slot->tid,
		.cpu = cpu,
		.kind = STAMP_KIND(slot->stamp),
		.leaf = recording->loaded->plan.config.leaf ? slot->extra[0] : 0,
		.value = recording->loaded->plan.config.value
				 ? slot->extra[recording->loaded->plan.config.leaf]
				 : 0,
	};
	enum span_side stacks;
	struct trace_event end;
	struct stack_ref user;
	u32 late = 0; /* cookie of the event's trace and span if they have not been read yet */
	int result;

	if (event.kind >= recording->loaded->sources->count)
		return 0;
	/* The slot has the word of the second value for all sources; if the source has no second
	 * value, the word holds that of an earlier event. */
	if (recording->loaded->sources->sources[event.kind].further_unit)
		event.further = slot->extra[recording->loaded->plan.config.leaf + 1];
	stacks = span_stacks_at_end_of_source(recording, event.kind);
	if (stacks == SPAN_STACKS_BEGIN)
		return span_stacks_take_end(recording, &event);
	end = event;
	if (stacks == SPAN_STACKS_BOTH)
		event.value = SPAN_MARK_TIME(event.time - event.value);
	result = records_fill_stacks(recording, ring, position, &fields, &event, &user);
	if (recording->loaded->plan.config.trace_ids)
		result = first_error(result, context_set_from_slot(recording, slot, &event, &late));
	if (alive_events_are_kept_of_source(recording, event.kind))
		return alive_events_keep_event(recording, &event, &user) ?: result;
	if (span_stacks_is_begin(recording, event.kind))
		return span_stacks_hold_begin(recording, &event, &user) ?: result;
	records_count_stacks(recording, &event, &user);
	recording->cpus[cpu].events++;
	result = (late ? late_contexts_hold(recording, &event, late)
		       : trace_writer_event(recording->writer, &event))
			 ?: result;
	if (stacks == SPAN_STACKS_BOTH)
		result = first_error(result, span_stacks_take_end(recording, &end));
	return result;
}

int records_take_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu)
{
	const struct task_slot *slot = ring_slot(ring, position);

	(void)cpu; /* names of tasks are not counted for each CPU */
	return task_log_take_record(recording->tasks, recording->writer, slot,
				    unwrap_time(recording->time_limit, STAMP_TIME(slot->stamp)));
}

int records_take_deferred_stack(struct recording *recording, const struct ring_view *ring,
				u64 position, u32 cpu)
{
	(void)cpu;
	return ring_is_deferred_stack(ring, position)
		       ? deferred_take_from_ring(recording, ring, position)
		       : 0;
}

int records_take_range(struct recording *recording, const struct ring_view *ring, u64 position,
		       u64 end, u32 cpu, take_record take)
{
	int result = 0;

	for (; position < end; position++)
		if (ring_slot_state(ring, position) == SLOT_EVENT) {
			result = first_error(result, take(recording, ring, position, cpu));
		}
	return result;
}

/* ring slots that one sample can take: an event, its deferred stack, and 300 frames that the stack
 * map refused */
#define SLOTS_OF_SAMPLE 128
#define TAIL_STRIDE 1024 /* number of slots that are given back to the writers at a time */

/* Returns the position up to which a round reads a ring: the end of the committed records, but not
 * more than `limit`; limit 0: no limit. */
static u64 find_ring_end_of_round(const struct ring_view *ring, u64 limit)
{
	u64 end = ring_committed_end(ring);

	return limit && limit < end ? limit : end;
}

/* Moves the records of a ring up to `end` to the file, and gives their slots back to the writers,
 * TAIL_STRIDE at a time. */
static int drain_ring(struct recording *recording, struct ring_view ring, u64 end, u32 cpu,
		      take_record take)
{
	u64 position = ring.header->tail;
	int result = 0;

	while (position < end) {
		u64 next = position + TAIL_STRIDE < end ? position + TAIL_STRIDE : end;
		u64 before = recording->cpus[cpu].events;
		result = first_error(
			result, records_take_range(recording, &ring, position, next, cpu, take));
		ring.header->consumed += recording->cpus[cpu].events - before;
		__atomic_store_n(&ring.header->tail, next, __ATOMIC_RELEASE);
		position = next;
	}
	return result;
}

static int drain_task_rings(struct recording *recording)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_task_ring(recording->loaded, cpu);
		u64 end = find_ring_end_of_round(&ring, recording->cpus[cpu].task_limit);
		result = first_error(result,
				     drain_ring(recording, ring, end, cpu, records_take_task));
	}
	return result;
}

int drain_deferred_stacks(struct recording *recording, struct pace_rings *rings)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);
		u32 filled = (ring.header->head - ring.header->tail) * 100 / ring.count;

		rings->fill = filled > rings->fill ? filled : rings->fill;
		rings->had_event |= ring.header->head != ring.header->tail;
		rings->slots = ring.count;
		recording->cpus[cpu].end =
			find_ring_end_of_round(&ring, recording->cpus[cpu].limit);
		if (recording->deferred && !result)
			result = records_take_range(recording, &ring, ring.header->tail,
						    recording->cpus[cpu].end, cpu,
						    records_take_deferred_stack);
	}
	return result;
}

static int drain_events(struct recording *recording)
{
	int result = 0;

	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		result = first_error(result,
				     drain_ring(recording, loaded_ring(recording->loaded, cpu),
						recording->cpus[cpu].end, cpu, records_take_event));
	}
	return result;
}

/* Ends the epoch if each ring was read to where its head was when the epoch began. */
static int end_epoch_if_rings_read(struct recording *recording)
{
	u32 cpus = recording->loaded->plan.config.cpus;

	for (u32 cpu = 0; cpu < cpus; cpu++)
		if (recording->cpus[cpu].end < recording->cpus[cpu].epoch_end)
			return 0;
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].epoch_end = ring_head(&ring);
	}
	return deferred_end_epoch(recording);
}

/* A reset publishes the new generation when all events that name stacks of the old generation are
 * committed. Stacks of the old generation are therefore named only by records that are in the rings
 * when the reader sees the new generation, and by deferred stacks that wait for their events. The
 * frames of these deferred stacks are copied. */
void generation_note_ring_heads_at_swap(struct recording *recording)
{
	u64 published = generation_published(recording->loaded);

	if (published == recording->generation_seen)
		return;
	recording->generation_seen = published;
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		recording->cpus[cpu].swap_end = ring_head(&ring);
	}
}

static bool are_all_old_records_read(const struct recording *recording)
{
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(recording->loaded, cpu);

		if (ring.header->tail < recording->cpus[cpu].swap_end)
			return false;
	}
	return true;
}

/* Called after the rings are read: tells the reset when no record and no deferred stack needs the
 * old generation any more. -ENOMEM. */
static int retire_old_generation(struct recording *recording)
{
	u64 *done = &loaded_programs(recording->loaded)->bss->generation_done;
	u64 before = recording->generation_seen - 1;
	int result;

	if (__atomic_load_n(done, __ATOMIC_RELAXED) >= before ||
	    !are_all_old_records_read(recording))
		return 0;
	result = counted_events_write(recording);
	if (recording->deferred)
		result =
			first_error(result, deferred_copy_frames_from_stack_map(recording, before));
	if (result)
		return result;
	for (u32 cpu = 0; cpu < recording->loaded->plan.config.cpus; cpu++)
		loaded_free_old_counted_rows(recording->loaded, cpu);
	__atomic_store_n(done, before, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The most slots of a CPU's ring that a millisecond fills, if all sources are samples at a
 * frequency and only followed tasks are recorded; 0: no such limit is known. Each new task of the
 * machine has a record if all tasks are recorded.
 */
static u32 most_slots_per_ms(const struct recording *recording)
{
	const struct source_list *sources = recording->loaded->sources;
	u64 slots = 0;

	if (!sources || !recording->loaded->plan.config.by_task)
		return 0;
	for (u32 i = 0; i < sources->count; i++) {
		if (!sources->sources[i].frequency)
			return 0;
		slots += (sources->sources[i].frequency / 1000 + 1) * SLOTS_OF_SAMPLE;
	}
	return slots < PACE_EVENTS_PER_MS ? slots : 0;
}

int recording_drain(struct recording *recording, int *next_ms)
{
	struct pace_rings rings = {.per_ms = most_slots_per_ms(recording)};
	int result;

	records_set_time_limit_of_round(recording);
	generation_note_ring_heads_at_swap(recording);
	result = drain_task_rings(recording);
	if (recording->times)
		result = first_error(result, thread_times_write_ended(recording));
	if (recording->deferred)
		result = first_error(result,
				     deferred_unwind_raw_stacks_in_ring(recording, &rings.fill));
	result = first_error(result, drain_deferred_stacks(recording, &rings));
	result = first_error(result, drain_events(recording));
	if (recording->deferred) {
		result = first_error(result, late_contexts_end_round(recording));
		result = first_error(result, end_epoch_if_rings_read(recording));
	}
	if (recording->spans)
		result = first_error(result, span_stacks_end_round(recording));
	if (recording->new_code)
		new_code_take_mappings(recording);
	if (recording->contexts)
		context_finder_collect(recording->contexts);
	result = first_error(result, symbols_visit_symbolizers(recording));
	if (recording->deferred)
		result = first_error(result, deferred_unwind_held(recording, false));
	result = first_error(result, retire_old_generation(recording));
	if (next_ms)
		*next_ms = pace_next_ms(&recording->pace, &rings);
	return result;
}
