/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers: events that end the recording, or make a flight recorder write a snapshot. The BPF
 * programs store the time of such an event (abi/trigger_state.h) before the event gets a slot, so
 * that no trigger is missed if a ring is full. The watch reads these times repeatedly.
 *
 * In a flight recorder, whose rings are overwritten, --stop-when also stops the events in the
 * kernel, so that the rings keep the events from before the trigger. An instance without a process
 * needs no watch for this.
 */
#ifndef LIB_SESSION_TRIGGER_H
#define LIB_SESSION_TRIGGER_H

#include <stdbool.h>

#include "array.h"
#include "capture/source/source.h"
#include "stackmap/error.h"

struct loaded;

/* The actions of triggers. The sources have sets of these numbers, as bits. */
enum trigger { TRIGGER_STOP, TRIGGER_SNAPSHOT, TRIGGER_COUNT };

struct trigger_watch {
	/* the BPF programs; NULL: no event is a trigger, and the watch is off */
	const struct loaded *loaded;
	u8 *triggers; /* by kind of event: actions that the event triggers, as bits of enum trigger
		       */
	u64 *seen;    /* by kind of event: time of the latest event at the last look */
	u64 delay_ns;
	/* by action: time at which the action is due, CLOCK_MONOTONIC, ns; 0: no trigger of the
	 * action has happened */
	u64 due[TRIGGER_COUNT];
	/* CLOCK_MONOTONIC, ns: time of the last snapshot, which has all events up to then; a
	 * trigger event up to this time causes no other snapshot. 0: no snapshot has been written
	 * yet */
	u64 written;
};

/* Parses the delay of --after: "500ms", "5s", "10min", "2h"; "0" or NULL: no delay. -EINVAL. */
int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error);

/*
 * Begins a watch. With own programs, the triggers are marks of their sources; the programs are
 * attached later, so that the watch sees all their events, and `names` is NULL. With an instance,
 * names[action] has the names of the instance's events that trigger the action; NULL: no names. If
 * a trigger event is still in the rings of a drain-mode instance, waiting for its reader, the
 * trigger counts as having happened. The watch stays off if no event is a trigger. -ENOMEM;
 * -ENOENT: the instance has no event of such a name.
 */
int trigger_watch_open(struct trigger_watch *watch, struct loaded *loaded, u64 delay_ns,
		       const struct string_list *const *names, struct stackmap_error *error);
void trigger_watch_close(struct trigger_watch *watch);

static inline bool trigger_watch_is_on(const struct trigger_watch *watch)
{
	return watch->loaded;
}

/* Looks for triggers. Returns the milliseconds until the next look. */
int trigger_watch_poll_events(struct trigger_watch *watch);

bool trigger_is_due(const struct trigger_watch *watch, enum trigger trigger);

/* Called before a snapshot is written: the snapshot has all events up to now. */
void trigger_watch_clear_due_snapshot(struct trigger_watch *watch);

#endif
