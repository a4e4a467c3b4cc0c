/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A context (task, softirq, hardirq, NMI) runs only while no higher context interrupts it. An entry
 * of a context therefore shows that the events of all higher contexts are complete. The event of
 * the context itself is complete when the next event of this context comes.
 */
#include "ftrace/events.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ftrace/stacks.h"
#include "hash_index.h"
#include "trace/event.h"

/*
 * User stacks by cookie. All events of one entry into the kernel share a cookie and a deferred
 * stack, which follows the events; further events may follow a stack of the task itself.
 *
 * The kernel counts cookies with 32 bits for each CPU. A known cookie with another thread belongs
 * to a later entry into the kernel, and replaces the earlier cookie.
 */

struct cookie {
	u64 cookie;
	u32 tid;
	u32 name;   /* number of the writer's placeholder; TRACE_NO_STACK: not made yet */
	u32 events; /* number of events that wait for the stack */
	u32 stack;  /* index of the deferred stack in the recording */
	u8 reason;
	bool is_answered;
};

struct waiting_event {
	bool is_used;
	u32 cookie; /* index of the event's cookie in `cookies`, or HASH_INDEX_NONE */
	struct trace_event event;
};

struct cpu_events {
	struct waiting_event waiting[FTRACE_CONTEXTS];
	u64 recorded;
	u64 lost[LOST_COUNT];
};

struct ftrace_events {
	struct trace_writer *writer;
	struct cpu_events *cpus;
	u32 cpu_room;
	u32 kinds;
	struct ftrace_stacks stacks;
	struct cookie *cookies;
	u32 cookie_count, cookie_room;
	struct hash_index cookie_index;
	struct trace_ledger ledger;
	u64 unknown_gaps;
};

static u32 hash_cookie(u64 cookie)
{
	return hash_end(hash_word(0, cookie));
}

static bool is_same_cookie(const void *items, u32 index, const void *cookie)
{
	return ((const struct cookie *)items)[index].cookie == *(const u64 *)cookie;
}

/* Returns the index of a cookie in `cookies`; HASH_INDEX_NONE: the cookie is new. */
static u32 find_cookie(const struct ftrace_events *events, u64 cookie)
{
	return hash_index_find(&events->cookie_index, hash_cookie(cookie), is_same_cookie,
			       events->cookies, &cookie);
}

/* Adds a cookie, or resets a known one, which then has no stack. -ENOMEM. */
static int add_cookie_without_stack(struct ftrace_events *events, u64 cookie, u32 tid, u32 *index)
{
	u32 count = events->cookie_count;

	*index = find_cookie(events, cookie);
	if (*index == HASH_INDEX_NONE) {
		if (array_make_room(events->cookies, count, events->cookie_room) ||
		    hash_index_add(&events->cookie_index, hash_cookie(cookie), count))
			return -ENOMEM;
		*index = events->cookie_count++;
	}
	events->cookies[*index] = (struct cookie){
		.cookie = cookie,
		.tid = tid,
		.name = TRACE_NO_STACK,
	};
	return 0;
}

int ftrace_events_create(struct trace_writer *writer, const struct stack_files *files,
			 ftrace_is_entry_code *is_entry_code, void *arg, struct ftrace_events **out)
{
	struct ftrace_events *events = calloc(1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	events->writer = writer;
	ftrace_stacks_init(&events->stacks, writer, files, is_entry_code, arg);
	*out = events;
	return 0;
}

void ftrace_events_free(struct ftrace_events **events)
{
	struct ftrace_events *old = *events;

	if (!old)
		return;
	free(old->cpus);
	ftrace_stacks_free(&old->stacks);
	hash_index_free(&old->cookie_index);
	free(old->cookies);
	free(old);
	*events = NULL;
}

u64 ftrace_events_unresolved_stacks(const struct ftrace_events *events)
{
	return events->ledger.kernel_reasons[REASON_GONE] +
	       events->ledger.user_reasons[REASON_GONE];
}

u64 ftrace_events_unknown_gaps(const struct ftrace_events *events)
{
	return events->unknown_gaps;
}

static void count_user_stack_ends_in_ledger(struct ftrace_events *events, u32 stack, u8 reason,
					    u32 count)
{
	if (stack == TRACE_NO_STACK)
		events->ledger.user_reasons[reason] += count;
	else
		events->ledger.user_stops[events->stacks.is_cut[stack] ? STOP_DEPTH : STOP_ROOT] +=
			count;
}

/* Sets the user stack of the event to the cookie's stack, or to a placeholder until the stack
 * comes. */
static int set_deferred_user_stack(struct ftrace_events *events, struct waiting_event *waiting)
{
	struct cookie *cookie = &events->cookies[waiting->cookie];
	int err = 0;

	if (!cookie->is_answered) {
		if (cookie->name == TRACE_NO_STACK)
			err = trace_writer_placeholder(events->writer, &cookie->name);
		cookie->events++;
		waiting->event.user = cookie->name;
		return err;
	}
	waiting->event.user = cookie->stack;
	waiting->event.user_reason = cookie->reason;
	count_user_stack_ends_in_ledger(events, cookie->stack, cookie->reason, 1);
	return 0;
}

static int write_waiting_event(struct ftrace_events *events, struct waiting_event *waiting)
{
	struct trace_event *event = &waiting->event;
	int err = 0;

	if (!waiting->is_used)
		return 0;
	waiting->is_used = false;
	if (event->kernel == TRACE_NO_STACK)
		events->ledger.kernel_reasons[event->kernel_reason]++;
	if (waiting->cookie != HASH_INDEX_NONE)
		err = set_deferred_user_stack(events, waiting);
	else
		count_user_stack_ends_in_ledger(events, event->user, event->user_reason, 1);
	events->cpus[event->cpu].recorded++;
	return err ?: trace_writer_event(events->writer, event);
}

/* Writes the events of a context and of the contexts that interrupt it, in the order of the ring.
 */
static int write_waiting_events_of_contexts(struct ftrace_events *events, struct cpu_events *cpu,
					    u32 context)
{
	int err = 0;

	for (u32 i = context; i < FTRACE_CONTEXTS && !err; i++)
		err = write_waiting_event(events, &cpu->waiting[i]);
	return err;
}

static int set_deferred_cookie_of_event(struct ftrace_events *events,
					const struct ftrace_entry *entry,
					struct waiting_event *waiting)
{
	const struct cookie *found;

	waiting->cookie = find_cookie(events, entry->value);
	if (waiting->cookie != HASH_INDEX_NONE) {
		found = &events->cookies[waiting->cookie];
		if (found->tid == entry->tid)
			return 0;
		if (!found->is_answered)
			count_user_stack_ends_in_ledger(events, TRACE_NO_STACK, REASON_UNANSWERED,
							found->events);
	}
	return add_cookie_without_stack(events, entry->value, entry->tid, &waiting->cookie);
}

/* A stack is ignored if its event was lost. */
static int add_stack_to_event(struct ftrace_events *events, const struct ftrace_entry *entry,
			      const void *payload, struct waiting_event *waiting)
{
	if (!waiting->is_used || waiting->event.tid != entry->tid)
		return 0;
	switch (entry->what) {
	case FTRACE_STACK_ID:
		waiting->event.kernel_reason = REASON_GONE;
		return ftrace_stacks_find_or_write_by_id(&events->stacks, entry->id,
							 &waiting->event.kernel);
	case FTRACE_STACK:
		waiting->event.kernel_reason = REASON_NO_FRAMES;
		return ftrace_stacks_write_whole(&events->stacks, entry, payload,
						 &waiting->event.kernel);
	case FTRACE_USER_STACK:
		waiting->event.user_reason = REASON_NO_FRAMES;
		return ftrace_stacks_write_whole(&events->stacks, entry, payload,
						 &waiting->event.user);
	default:
		return set_deferred_cookie_of_event(events, entry, waiting);
	}
}

static u8 reason_of_ftrace_reason(u32 reason)
{
	switch (reason) {
	case FTRACE_CHANGED:
		return REASON_CHANGED;
	case FTRACE_FULL:
		return REASON_NO_ROOM;
	case FTRACE_NO_MEMORY:
		return REASON_NO_STATE;
	case FTRACE_RUNNING:
		return REASON_UNANSWERED;
	default:
		return REASON_UNREADABLE;
	}
}

/* The thread that stops tracing writes the deferred stacks of sleeping tasks, so the thread of the
 * entry may differ from the thread of its events. */
static int set_stack_of_deferred_cookie(struct ftrace_events *events,
					const struct ftrace_entry *entry)
{
	u32 index = find_cookie(events, entry->value);
	u32 stack = TRACE_NO_STACK;
	struct cookie *cookie;
	int err = 0;
	struct trace_resolution resolution;

	if (!entry->reason)
		err = ftrace_stacks_find_or_write_by_id(&events->stacks, entry->id, &stack);
	if (!err && (index == HASH_INDEX_NONE || events->cookies[index].is_answered))
		err = add_cookie_without_stack(events, entry->value, entry->tid, &index);
	if (err)
		return err;
	cookie = &events->cookies[index];
	cookie->stack = stack;
	cookie->reason = entry->reason ? reason_of_ftrace_reason(entry->reason) : REASON_GONE;
	resolution = (struct trace_resolution){.stack = cookie->stack, .reason = cookie->reason};
	cookie->is_answered = true;
	if (cookie->name == TRACE_NO_STACK)
		return 0;
	count_user_stack_ends_in_ledger(events, cookie->stack, cookie->reason, cookie->events);
	return trace_writer_resolve(events->writer, cookie->name, &resolution);
}

int ftrace_events_take(struct ftrace_events *events, const struct ftrace_entry *entry,
		       const void *payload)
{
	struct waiting_event *waiting;
	struct cpu_events *cpu;
	struct trace_task task;
	int err;

	if (array_make_zeroed(events->cpus, entry->cpu + 1UL, events->cpu_room))
		return -ENOMEM;
	cpu = &events->cpus[entry->cpu];
	waiting = &cpu->waiting[entry->context];
	switch (entry->what) {
	case FTRACE_SOURCE:
		if (events->kinds > UINT16_MAX)
			return -EBADMSG;
		events->kinds++;
		return trace_writer_source(
			events->writer, &(struct trace_source){.name = payload, .value_unit = ""});
	case FTRACE_TASK:
		/* ftrace does not record the process of a thread, so each thread counts as a
		 * process of its own. */
		task = (struct trace_task){.tid = entry->tid, .tgid = entry->tid};
		memcpy(task.comm, payload, sizeof(task.comm));
		return trace_writer_task(events->writer, &task);
	case FTRACE_EVENT:
		err = write_waiting_events_of_contexts(events, cpu, entry->context);
		if (err)
			return err;
		if (entry->kind >= events->kinds)
			return -EBADMSG;
		*waiting = (struct waiting_event){
			.is_used = true,
			.cookie = HASH_INDEX_NONE,
			.event = {.time = entry->time,
				  .tid = entry->tid,
				  .kind = entry->kind,
				  .cpu = entry->cpu,
				  .kernel = TRACE_NO_STACK,
				  .user = TRACE_NO_STACK,
				  .kernel_reason = REASON_NOT_ASKED,
				  .user_reason = REASON_NOT_ASKED},
		};
		return 0;
	case FTRACE_ANSWER:
		return set_stack_of_deferred_cookie(events, entry);
	case FTRACE_GAP:
		return write_waiting_events_of_contexts(events, cpu, 0);
	case FTRACE_LOST:
		if (entry->reason >= LOST_COUNT)
			return -EBADMSG;
		events->unknown_gaps += !entry->value;
		cpu->lost[entry->reason] += entry->value ?: 1;
		return 0;
	default:
		err = write_waiting_events_of_contexts(events, cpu, entry->context + 1);
		return err ?: add_stack_to_event(events, entry, payload, waiting);
	}
}

static int write_ledger(struct ftrace_events *events)
{
	struct trace_cpu_ledger *cpus = calloc(events->cpu_room + 1UL, sizeof(*cpus));
	u32 count = 0;
	int err;

	if (!cpus)
		return -ENOMEM;
	for (u32 i = 0; i < events->cpu_room; i++) {
		const struct cpu_events *counted = &events->cpus[i];
		struct trace_cpu_ledger *cpu = &cpus[count];

		*cpu = (struct trace_cpu_ledger){
			.cpu = i, .recorded = counted->recorded, .produced = counted->recorded};
		for (u32 cause = 0; cause < LOST_COUNT; cause++) {
			cpu->lost[cause] = counted->lost[cause];
			cpu->produced += counted->lost[cause];
			events->ledger.lost[cause] += counted->lost[cause];
		}
		events->ledger.produced += cpu->produced;
		events->ledger.recorded += cpu->recorded;
		count += cpu->produced != 0;
	}
	err = trace_writer_ledger(events->writer, &events->ledger, cpus, count);
	free(cpus);
	return err;
}

int ftrace_events_end(struct ftrace_events *events)
{
	int err = 0;

	for (u32 i = 0; i < events->cpu_room && !err; i++)
		err = write_waiting_events_of_contexts(events, &events->cpus[i], 0);
	if (err)
		return err;
	for (u32 i = 0; i < events->cookie_count; i++)
		if (!events->cookies[i].is_answered)
			count_user_stack_ends_in_ledger(events, TRACE_NO_STACK, REASON_UNANSWERED,
							events->cookies[i].events);
	events->ledger.notes[NOTE_UNKNOWN_FRAMES] = events->stacks.unknown_frames;
	return trace_writer_flush(events->writer) ?: write_ledger(events);
}
