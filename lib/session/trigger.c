/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/trigger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/load/loaded.h"
#include "clock.h"
#include "error.h"
#include "session/duration.h"

#define LOOK_MS_MAX 20 /* between two looks: a trigger is noticed no later than that */

struct trigger_ring {
	u64 position; /* of the next look */
	u64 head;     /* at the last look */
};

int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error)
{
	u64 ms = 0;

	if (word && !duration_parse_ms(word, &ms))
		return error_set(error, EINVAL,
				 "--after %s: not a time like 500ms, 5s, 10min or 2h", word);
	*ns = ms * NS_PER_MS;
	return 0;
}

static bool has_triggers(const struct source_list *sources)
{
	for (u32 i = 0; i < sources->count; i++)
		if (sources->sources[i].triggers)
			return true;
	return false;
}

int trigger_watch_open(struct trigger_watch *watch, const struct loaded *loaded, u64 delay_ns)
{
	u32 cpus = loaded->plan.config.cpus;

	*watch = (struct trigger_watch){.delay_ns = delay_ns};
	if (!has_triggers(loaded->sources))
		return 0;
	watch->rings = calloc(cpus, sizeof(*watch->rings));
	if (!watch->rings)
		return -ENOMEM;
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		struct ring_view ring = loaded_ring(loaded, cpu);

		watch->rings[cpu].position = ring_head(&ring);
		watch->rings[cpu].head = watch->rings[cpu].position;
	}
	watch->loaded = loaded;
	return 0;
}

void trigger_watch_close(struct trigger_watch *watch)
{
	free(watch->rings);
	*watch = (struct trigger_watch){};
}

/* The time of a stamp, which has passed. */
static u64 time_of(u64 stamp)
{
	u64 now = clock_ns(CLOCK_MONOTONIC);

	return now - STAMP_TIME(now - STAMP_TIME(stamp));
}

/* Notes a trigger. The first one counts, of snapshots the first that the last snapshot lacks. */
static void note(struct trigger_watch *watch, u64 stamp)
{
	u8 triggers = watch->loaded->sources->sources[STAMP_KIND(stamp)].triggers;
	u64 time = time_of(stamp);

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
	if (STAMP_KIND(stamp) < watch->loaded->sources->count)
		note(watch, stamp);
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
	}
	for (; seen->position < head; seen->position++) {
		enum slot_state state = ring_slot_state(&ring, seen->position);

		if (state == SLOT_ABSENT && seen->position >= seen->head)
			break;
		if (state == SLOT_EVENT)
			look_at(watch, &ring, seen->position);
	}
	seen->head = head;
}

int trigger_look(struct trigger_watch *watch)
{
	struct pace_rings rings = {};
	int ms;

	for (u32 cpu = 0; cpu < watch->loaded->plan.config.cpus; cpu++)
		look_at_ring(watch, cpu, &rings);
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
