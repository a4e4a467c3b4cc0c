/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One round: what came into the rings goes to the writer. It waits for nobody: what is known of
 * files and processes comes from beside (scripts/check-layers). Errors are the writer's, and
 * -ENOMEM; reading goes on in spite of them. */
#ifndef LIB_CAPTURE_DRAIN_H
#define LIB_CAPTURE_DRAIN_H

#include "capture/drain/recording.h"

/* Moves all that is in the rings to the writer. *next_ms, if not NULL: in how many ms the next
 * visit is due (capture/drain/pace.h). */
int recording_drain(struct recording *recording, int *next_ms);

/* The first half: deferred stacks to the events that wait for them; cpus[].end is how far. Adds to
 * *rings what they held. */
int drain_deferred_stacks(struct recording *recording, struct pace_rings *rings);

/* The reader's part in a reset (capture/instance/reset.h), before reading: how far the rings may
 * name stacks of the generation before the current one. */
void generation_peek(struct recording *recording);

#endif
