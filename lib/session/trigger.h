/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Triggers: events of a recording that end the recording, or have a flight recorder write a
 * snapshot. The reader looks for such events in the rings, so the programs in the kernel do not
 * know of triggers, and other events cost no more.
 *
 * A ring is looked at from where the last look ended. A slot that is not committed yet is looked at
 * once more in the next look. Events that found the ring full and are only counted (abi/counted.h)
 * are triggers, too; an instance in flight mode, --leaks and stack=begin count none. A flight
 * recorder may overwrite slots between two looks; these slots are counted, since a trigger may have
 * been among them.
 */
#ifndef LIB_SESSION_TRIGGER_H
#define LIB_SESSION_TRIGGER_H

#include <stdbool.h>

#include "array.h"
#include "capture/drain/pace.h"
#include "capture/source/source.h"
#include "stackmap/error.h"

struct loaded;
struct trigger_ring;

/* Indexes of what a trigger does; a source has a set of these, as bits. */
enum trigger { TRIGGER_STOP, TRIGGER_SNAPSHOT, TRIGGER_COUNT };

struct trigger_watch {
	const struct loaded *loaded; /* NULL: no source is a trigger */
	struct trigger_ring *rings;
	u8 *triggers; /* of each kind of event, bits */
	struct pace pace;
	u64 delay_ns;
	u64 due[TRIGGER_COUNT]; /* CLOCK_MONOTONIC, ns; 0: no trigger has happened */
	u64 written; /* CLOCK_MONOTONIC, ns: snapshots hold all events until then; 0: none */
	u64 unseen;  /* slots that were overwritten before a look */
};

/* `word`: "500ms", "5s", "10min", "2h", after --after; NULL: no delay. -EINVAL. */
int trigger_parse_delay(const char *word, u64 *ns, struct stackmap_error *error);

/* Begins a watch of the rings, from the first event that no reader has taken yet; of a flight
 * recorder, from the present ends of the rings. Programs of this process are attached
 * later, so that the watch sees all of their events. The watch stays off if no source is a trigger.
 * `stop_when`: names of events of an instance that end the reading of it, besides the triggers of
 * its sources. -ENOMEM; -ENOENT: the instance has no event of such a name. */
int trigger_watch_open(struct trigger_watch *watch, const struct loaded *loaded, u64 delay_ns,
		       const struct string_list *stop_when, struct stackmap_error *error);
void trigger_watch_close(struct trigger_watch *watch);

static inline bool trigger_watch_is_on(const struct trigger_watch *watch)
{
	return watch->loaded;
}

/* Looks for triggers, before a drain. The time until the next look, in ms. */
int trigger_look(struct trigger_watch *watch);

bool trigger_is_due(const struct trigger_watch *watch, enum trigger trigger);

/* A snapshot is about to be written: it holds all events until now. */
void trigger_snapshot_begins(struct trigger_watch *watch);

#endif
