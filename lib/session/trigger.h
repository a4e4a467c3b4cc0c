/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers: events of a recording that end the recording, or have a flight recorder write a
 * snapshot. The programs in the kernel note the time of such an event (abi/trigger_state.h), before
 * the event gets a slot, so that no trigger is missed where a ring is full. The watch looks at
 * these times again and again.
 *
 * Where rings are overwritten, --stop-when also ends the events in the kernel, so that the rings
 * hold what was before. An instance without a process needs no watch for that.
 */
#ifndef LIB_SESSION_TRIGGER_H
#define LIB_SESSION_TRIGGER_H

#include <stdbool.h>

#include "array.h"
#include "capture/source/source.h"
#include "stackmap/error.h"

struct loaded;

/* Indexes of what a trigger does; a source has a set of these, as bits. */
enum trigger { TRIGGER_STOP, TRIGGER_SNAPSHOT, TRIGGER_COUNT };

struct trigger_watch {
	const struct loaded *loaded; /* NULL: no source is a trigger */
	u8 *triggers;		     /* of each kind of event, bits */
	u64 *seen;		     /* of each kind: the time of the event at the last look */
	u64 delay_ns;
	u64 due[TRIGGER_COUNT]; /* CLOCK_MONOTONIC, ns; 0: no trigger has happened */
	u64 written; /* CLOCK_MONOTONIC, ns: snapshots hold all events until then; 0: none */
};

/* `word`: "500ms", "5s", "10min", "2h", after --after; "0" or NULL: no delay. -EINVAL. */
int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error);

/* Names of an instance's events that are triggers, by what they do; NULL: none. */
struct trigger_names {
	const struct string_list *names[TRIGGER_COUNT];
};

/* Begins a watch. Own programs are attached later, so that the watch sees all of their events; the
 * triggers are marks of their sources. Of an instance the triggers are `names`, and an event that
 * is in the rings of a drain instance, for the reader to take, is one that has happened. The watch
 * stays off if no event is a trigger. -ENOMEM; -ENOENT: the instance has no event of such a name.
 */
int trigger_watch_open(struct trigger_watch *watch, struct loaded *loaded, u64 delay_ns,
		       const struct trigger_names *names, struct stackmap_error *error);
void trigger_watch_close(struct trigger_watch *watch);

static inline bool trigger_watch_is_on(const struct trigger_watch *watch)
{
	return watch->loaded;
}

/* Looks for triggers. The time until the next look, in ms. */
int trigger_look(struct trigger_watch *watch);

bool trigger_is_due(const struct trigger_watch *watch, enum trigger trigger);

/* A snapshot is about to be written: it holds all events until now. */
void trigger_snapshot_begins(struct trigger_watch *watch);

#endif
