/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "capture/drain/records.h"

#include <time.h>

#include "capture/drain/alive_events.h"
#include "capture/drain/deferred.h"
#include "capture/drain/event_stacks.h"
#include "capture/drain/file_ledger.h"
#include "capture/drain/symbols.h"
#include "clock.h"
#include "error.h"

/* A stamp may be later than the begin of the round by this time. */
#define READING_NS_MAX (3600ULL * 1000000000)

/* The latest time not after `limit` whose lower bits are `low`. */
static u64 unwrap(u64 limit, u64 low)
{
	u64 period = 1ULL << STAMP_TIME_BITS;
	u64 time = (limit & ~(period - 1)) | low;

	return time > limit && time >= period ? time - period : time;
}

void records_begin_round(struct recording *recording)
{
	recording->time_limit = clock_ns(CLOCK_MONOTONIC) + READING_NS_MAX;
	task_log_round(recording->tasks);
}

int records_fill(struct recording *recording, const struct ring_view *ring, u64 position,
		 const struct stack_fields *fields, struct trace_event *event,
		 struct stack_ref *user)
{
	u32 kernel_state = EVENT_KERNEL_STATE(fields->flags);
	u32 user_state = EVENT_USER_STATE(fields->flags);
	struct stack_ref kernel = STACK_REF_NONE;
	int result;

	*user = STACK_REF_NONE;
	result = event_stack(recording, ring, position, kernel_state, fields->kernel, &kernel);
	if (!result && user_state == STATE_COOKIE && recording->deferred)
		result = deferred_ref(recording, fields->user, event, user);
	else if (!result)
		result = event_stack(recording, ring, position, user_state, fields->user, user);
	result = result ?: event_stack_mapping(recording, event->leaf);
	result = result ?: task_log_need(recording->tasks, recording->writer, event->tid);
	event->kernel = kernel.index;
	event->kernel_reason = kernel.reason;
	event->user = user->index;
	event->user_reason = user->reason;
	return result;
}

void records_note_stacks(struct recording *recording, const struct trace_event *event,
			 const struct stack_ref *user)
{
	u64 events = event_stands_for(event);

	if (event->kernel == TRACE_NO_STACK)
		recording->written.kernel_reasons[event->kernel_reason] += events;
	file_ledger_user_stack(recording, user, events);
	symbols_note_vain(recording, user, event->leaf, events);
}

int records_take_event(struct recording *recording, const struct ring_view *ring, u64 position,
		       u32 cpu)
{
	const struct event_slot *slot = ring_slot(ring, position);
	const struct stack_fields fields = {STAMP_FLAGS(slot->stamp), slot->kernel, slot->user};
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
	struct stack_ref user;
	int result;

	if (event.kind >= recording->loaded->sources->count)
		return 0;
	result = records_fill(recording, ring, position, &fields, &event, &user);
	if (alive_events_want(recording, event.kind))
		return alive_events_hold(recording, &event, &user) ?: result;
	records_note_stacks(recording, &event, &user);
	recording->cpus[cpu].events++;
	return trace_writer_event(recording->writer, &event) ?: result;
}

int records_take_task(struct recording *recording, const struct ring_view *ring, u64 position,
		      u32 cpu)
{
	const struct task_slot *slot = ring_slot(ring, position);

	(void)cpu; /* names are not counted by CPU */
	return task_log_record(recording->tasks, recording->writer, slot,
			       unwrap(recording->time_limit, STAMP_TIME(slot->stamp)));
}

int records_take_deferred_stack(struct recording *recording, const struct ring_view *ring,
				u64 position, u32 cpu)
{
	(void)cpu;
	return ring_is_deferred_stack(ring, position) ? deferred_take(recording, ring, position)
						      : 0;
}

int records_each(struct recording *recording, const struct ring_view *ring, u64 position, u64 end,
		 u32 cpu, take_record take)
{
	int result = 0;

	for (; position < end; position++)
		if (ring_slot_state(ring, position) == SLOT_EVENT) {
			result = first_error(result, take(recording, ring, position, cpu));
		}
	return result;
}
