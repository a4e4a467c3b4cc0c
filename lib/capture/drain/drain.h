/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One round of a drain: moves the contents of the rings to the writer. A round never waits for
 * another process: facts about files and processes come from workers (scripts/check-layers). Errors
 * are those of the writer and -ENOMEM; an error does not end the reading. */
#ifndef LIB_CAPTURE_DRAIN_H
#define LIB_CAPTURE_DRAIN_H

#include "capture/drain/recording.h"

/* Moves the contents of the rings to the writer. *next_ms, unless NULL: time until the next visit,
 * in ms (capture/drain/pace.h). */
int recording_drain(struct recording *recording, int *next_ms);

/* The first half of a round: joins deferred stacks to the events that wait for them, up to
 * cpus[].end. Adds the contents of the rings to *rings. */
int drain_deferred_stacks(struct recording *recording, struct pace_rings *rings);

/* The reader's part in a reset (capture/instance/reset.h), before reading: notes up to where the
 * rings may name stacks of the previous generation. */
void generation_peek(struct recording *recording);

#endif
