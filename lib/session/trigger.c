/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/trigger.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/load/loaded.h"
#include "clock.h"
#include "error.h"
#include "session/duration.h"

/* Milliseconds between two looks at the times of triggers. A trigger is noticed at most this much
 * later. */
#define LOOK_MS 20
/* The longest delay, so that a time plus the delay does not overflow. */
#define DELAY_MS_MAX (UINT64_MAX / 2 / NS_PER_MS)

int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error)
{
	bool is_zero_delay =
		!word || !strcmp(word, "0") || !strcmp(word, "0s") || !strcmp(word, "0ms");
	u64 ms = 0;

	if (!is_zero_delay && (!duration_parse_ms(word, &ms) || ms > DELAY_MS_MAX))
		return error_set(error, EINVAL,
				 "--after %s: not a time like 500ms, 5s, 10min or 2h", word);
	*ns = ms * NS_PER_MS;
	return 0;
}

static const char *const options[TRIGGER_COUNT] = {"--stop-when", "--snapshot-when"};

/* Marks the event kinds with this name as triggers of this action. */
static int set_triggers_by_name(const struct source_list *sources, const char *name,
				enum trigger trigger, u8 *triggers, struct stackmap_error *error)
{
	bool found = false;

	for (u32 kind = 0; kind < sources->count; kind++)
		if (!strcmp(sources->sources[kind].name, name)) {
			triggers[kind] |= 1U << trigger;
			found = true;
		}
	return found ? 0
		     : error_set(error, ENOENT, "%s %s: the instance does not record it",
				 options[trigger], name);
}

/*
 * Sets the triggers of all event kinds, by the marks of the sources or by names. A span is a
 * trigger at its end.
 */
static int set_triggers(struct trigger_watch *watch, const struct source_list *sources,
			const struct string_list *const *names, struct stackmap_error *error)
{
	int result = 0;

	for (u32 kind = 0; kind < sources->count; kind++)
		if (sources->sources[kind].question.span_role != SPAN_BEGIN)
			watch->triggers[kind] = sources->sources[kind].triggers;
	for (u32 trigger = 0; names && trigger < TRIGGER_COUNT; trigger++) {
		const struct string_list *list = names[trigger];

		for (size_t i = 0; list && i < list->count && !result; i++)
			result = set_triggers_by_name(sources, list->items[i], trigger,
						      watch->triggers, error);
	}
	return result;
}

/*
 * Tells the BPF programs which event kinds are triggers. In an instance, a mark stays when the
 * watch ends: the next watch may need it, and a mark costs an event only some nanoseconds.
 */
static void mark_triggers(struct trigger_watch *watch, struct loaded *loaded, bool is_own)
{
	const struct capture_config *config = &loaded->plan.config;
	struct trigger_state *state = loaded_triggers(loaded);
	bool stops = is_own && (config->flight || config->has_files);

	if (is_own)
		state->delay = watch->delay_ns;
	for (u32 kind = 0; kind < loaded->sources->count; kind++) {
		u64 marks = watch->triggers[kind] ? TRIGGER_WATCHED : 0;

		if (stops && watch->triggers[kind] & 1U << TRIGGER_STOP)
			marks |= TRIGGER_STOPS;
		watch->seen[kind] = __atomic_load_n(&state->row[kind].time, __ATOMIC_RELAXED);
		__atomic_fetch_or(&state->row[kind].marks, marks, __ATOMIC_SEQ_CST);
		if (marks)
			watch->loaded = loaded;
	}
}

/*
 * Records that a trigger has happened. The first trigger counts; for snapshots, the first one that
 * is not in the last snapshot.
 */
static void record_trigger(struct trigger_watch *watch, u32 kind, u64 time)
{
	for (u32 i = 0; i < TRIGGER_COUNT; i++)
		if (watch->triggers[kind] & 1U << i && !watch->due[i] &&
		    (i != TRIGGER_SNAPSHOT || time > watch->written))
			watch->due[i] = time + watch->delay_ns;
}

/* Records the triggers among the events that are still in a ring. */
static void record_triggers_in_ring(struct trigger_watch *watch, const struct ring_view *ring)
{
	u64 head = ring_head(ring);

	for (u64 position = ring->header->tail; position < head; position++) {
		const struct event_slot *slot = ring_slot(ring, position);
		u64 stamp = slot->stamp, now = clock_ns(CLOCK_MONOTONIC);

		if (ring_slot_state(ring, position) == SLOT_EVENT &&
		    STAMP_KIND(stamp) < watch->loaded->sources->count)
			record_trigger(watch, STAMP_KIND(stamp),
				       now - STAMP_TIME(now - STAMP_TIME(stamp)));
	}
}

/*
 * Records triggers among events that are only counted (abi/counted.h) and that no file has yet.
 * Such events have no time, so the delay begins now.
 */
static void record_counted_triggers(struct trigger_watch *watch, const struct counted_table *table)
{
	for (u32 i = 0; table && i < watch->loaded->plan.config.counted_rows; i++) {
		const struct counted_row *row = &table->row[i];
		u32 kind = STAMP_KIND(row->key.task);

		if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == COUNTED_READY &&
		    __atomic_load_n(&row->count, __ATOMIC_RELAXED) > row->reported_count &&
		    kind < watch->loaded->sources->count)
			record_trigger(watch, kind, clock_ns(CLOCK_MONOTONIC));
	}
}

int trigger_watch_open(struct trigger_watch *watch, struct loaded *loaded, u64 delay_ns,
		       const struct string_list *const *names, struct stackmap_error *error)
{
	u32 kinds = loaded->sources->count + 1;
	int result;

	*watch = (struct trigger_watch){
		.delay_ns = delay_ns,
		.triggers = calloc(kinds, sizeof(*watch->triggers)),
		.seen = calloc(kinds, sizeof(*watch->seen)),
	};
	if (!watch->triggers || !watch->seen)
		return error_set(error, ENOMEM, "--stop-when: %s", strerror(ENOMEM));
	result = set_triggers(watch, loaded->sources, names, error);
	if (result)
		return result;
	mark_triggers(watch, loaded, !names);
	if (!watch->loaded || !names || loaded_is_flight(loaded))
		return 0;
	/* A program that ran before the mark was set may still be committing its event. The event
	 * is in the ring when the kernel has waited for such programs. */
	generation_wait_for_programs(loaded);
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);

		record_triggers_in_ring(watch, &ring);
		record_counted_triggers(watch, loaded_counted_table(loaded, cpu));
	}
	return 0;
}

void trigger_watch_close(struct trigger_watch *watch)
{
	free(watch->triggers);
	free(watch->seen);
	*watch = (struct trigger_watch){};
}

/* If several events happened between two looks, only the latest counts. */
int trigger_watch_poll_events(struct trigger_watch *watch)
{
	const struct trigger_state *state = loaded_triggers(watch->loaded);

	for (u32 kind = 0; kind < watch->loaded->sources->count; kind++) {
		u64 time = __atomic_load_n(&state->row[kind].time, __ATOMIC_ACQUIRE);

		if (!watch->triggers[kind] || time == watch->seen[kind])
			continue;
		watch->seen[kind] = time;
		record_trigger(watch, kind, time);
	}
	return LOOK_MS;
}

bool trigger_is_due(const struct trigger_watch *watch, enum trigger trigger)
{
	return watch->due[trigger] && clock_ns(CLOCK_MONOTONIC) >= watch->due[trigger];
}

void trigger_watch_clear_due_snapshot(struct trigger_watch *watch)
{
	watch->due[TRIGGER_SNAPSHOT] = 0;
	watch->written = clock_ns(CLOCK_MONOTONIC);
}
