/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/trigger.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/counted_events.h"
#include "capture/load/loaded.h"
#include "clock.h"
#include "error.h"
#include "session/duration.h"

#define LOOK_MS_MAX 20		 /* between two looks: a trigger is noticed no later than that */
#define ABSENT_NS_MAX 1000000000 /* after which a slot without an event is passed over */
#define DELAY_MS_MAX (UINT64_MAX / 2 / NS_PER_MS) /* of a delay that is added to a time */

struct trigger_ring {
	u64 position; /* of the next look */
	u64 head;     /* at the last look */
	u64 counted;  /* events that found the ring full, at the last look */
	u64 absent; /* time since which the slot at `position` is not written; 0: it was not met */
};

int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error)
{
	u64 ms = 0;

	if (word && (!duration_parse_ms(word, &ms) || ms > DELAY_MS_MAX))
		return error_set(error, EINVAL,
				 "--after %s: not a time like 500ms, 5s, 10min or 2h", word);
	*ns = ms * NS_PER_MS;
	return 0;
}

/* Sets the kinds of one name as those that end the recording. */
static int set_named(const struct source_list *sources, const char *name, u8 *triggers,
		     struct stackmap_error *error)
{
	bool found = false;

	for (u32 kind = 0; kind < sources->count; kind++)
		if (!strcmp(sources->sources[kind].name, name)) {
			triggers[kind] |= 1U << TRIGGER_STOP;
			found = true;
		}
	return found ? 0
		     : error_set(error, ENOENT, "--stop-when %s: the instance does not record it",
				 name);
}

/* The triggers of all kinds, by the marks of the sources and by names; *any: there is one. */
static int set_triggers(struct trigger_watch *watch, const struct source_list *sources,
			const struct string_list *stop_when, bool *any,
			struct stackmap_error *error)
{
	int result = 0;

	for (u32 kind = 0; kind < sources->count; kind++)
		watch->triggers[kind] = sources->sources[kind].triggers;
	for (size_t i = 0; stop_when && i < stop_when->count && !result; i++)
		result = set_named(sources, stop_when->items[i], watch->triggers, error);
	for (u32 kind = 0; kind < sources->count; kind++)
		*any |= watch->triggers[kind];
	return result;
}

static void begin_rings(struct trigger_watch *watch, const struct loaded *loaded)
{
	for (u32 cpu = 0; cpu < loaded->plan.config.cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);

		watch->rings[cpu].head = ring_head(&ring);
		watch->rings[cpu].position =
			loaded_is_flight(loaded) ? watch->rings[cpu].head : ring.header->tail;
	}
}

int trigger_watch_open(struct trigger_watch *watch, const struct loaded *loaded, u64 delay_ns,
		       const struct string_list *stop_when, struct stackmap_error *error)
{
	bool any = false;
	int result;

	*watch = (struct trigger_watch){
		.delay_ns = delay_ns,
		.rings = calloc(loaded->plan.config.cpus, sizeof(*watch->rings)),
		.triggers = calloc(loaded->sources->count + 1, sizeof(*watch->triggers)),
	};
	if (!watch->rings || !watch->triggers)
		return error_set(error, ENOMEM, "--stop-when: %s", strerror(ENOMEM));
	result = set_triggers(watch, loaded->sources, stop_when, &any, error);
	begin_rings(watch, loaded);
	if (!result && any)
		watch->loaded = loaded;
	return result;
}

void trigger_watch_close(struct trigger_watch *watch)
{
	free(watch->rings);
	free(watch->triggers);
	*watch = (struct trigger_watch){};
}

/* The full time of a stamp, which has the lower bits of a time in the past. CLOCK_MONOTONIC, ns. */
static u64 time_of(u64 stamp)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);

	return now - STAMP_TIME(now - STAMP_TIME(stamp));
}

/* Notes a trigger. The first one counts, of snapshots the first that the last snapshot lacks. */
static void note(struct trigger_watch *watch, u32 kind, u64 time)
{
	u8 triggers = kind < watch->loaded->sources->count ? watch->triggers[kind] : 0;

	for (u32 i = 0; i < TRIGGER_COUNT; i++)
		if (triggers & 1U << i && !watch->due[i] &&
		    (i != TRIGGER_SNAPSHOT || time > watch->written))
			watch->due[i] = time + watch->delay_ns;
}

/* Looks at one slot. Its stamp counts if the slot was not overwritten meanwhile. */
static void look_at(struct trigger_watch *watch, const struct ring_view *ring, u64 position)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u64 stamp = __atomic_load_n(&slot->stamp, __ATOMIC_ACQUIRE);

	if (ring_slot_state(ring, position) != SLOT_EVENT)
		return;
	note(watch, STAMP_KIND(stamp), time_of(stamp));
}

/* Looks for counted events (abi/counted.h) that no file has yet. Counted events have no time, so a
 * delay begins at the look. A program sets the row of an event before it counts the event. */
static void look_at_counted(struct trigger_watch *watch, u32 cpu)
{
	const struct counted_table *table = loaded_counted(watch->loaded, cpu);
	u64 counted = counted_events_sum(watch->loaded, cpu);

	if (!table || counted == watch->rings[cpu].counted)
		return;
	watch->rings[cpu].counted = counted;
	for (u32 i = 0; i < COUNTED_ROWS; i++) {
		const struct counted_row *row = &table->row[i];

		if (__atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == COUNTED_READY &&
		    __atomic_load_n(&row->count, __ATOMIC_RELAXED) > row->reported_count)
			note(watch, STAMP_KIND(row->key.task), clock_ns(CLOCK_MONOTONIC));
	}
}

/* A program may be interrupted while it writes a slot, so the look waits for the slot. In a flight
 * recorder a slot may stay unwritten until the ring comes round. */
static bool is_given_up(struct trigger_ring *seen)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);

	if (!seen->absent)
		seen->absent = now;
	return now - seen->absent > ABSENT_NS_MAX;
}

static void look_at_ring(struct trigger_watch *watch, u32 cpu, struct pace_rings *rings)
{
	struct trigger_ring *seen = &watch->rings[cpu];
	struct ring_view ring = loaded_ring(watch->loaded, cpu);
	u64 head = ring_head(&ring), oldest = head - ring.count;
	u32 filled = (head - seen->head) * 100 / ring.count;

	rings->slots = ring.count;
	rings->had_event |= head != seen->head;
	rings->fill = filled > rings->fill ? filled : rings->fill;
	if (seen->position < oldest) {
		watch->unseen += oldest - seen->position;
		seen->position = oldest;
		seen->absent = 0;
	}
	for (; seen->position < head; seen->position++) {
		enum slot_state state = ring_slot_state(&ring, seen->position);

		if (state == SLOT_ABSENT && !is_given_up(seen))
			break;
		seen->absent = 0;
		if (state == SLOT_EVENT)
			look_at(watch, &ring, seen->position);
	}
	seen->head = head;
}

int trigger_look(struct trigger_watch *watch)
{
	struct pace_rings rings = {};
	int ms;

	for (u32 cpu = 0; cpu < watch->loaded->plan.config.cpus; cpu++) {
		look_at_ring(watch, cpu, &rings);
		look_at_counted(watch, cpu);
	}
	ms = pace_next(&watch->pace, &rings);
	return ms < LOOK_MS_MAX ? ms : LOOK_MS_MAX;
}

bool trigger_is_due(const struct trigger_watch *watch, enum trigger trigger)
{
	return watch->due[trigger] && clock_ns(CLOCK_MONOTONIC) >= watch->due[trigger];
}

void trigger_snapshot_begins(struct trigger_watch *watch)
{
	watch->due[TRIGGER_SNAPSHOT] = 0;
	watch->written = clock_ns(CLOCK_MONOTONIC);
}
