/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From rings to the writer. Errors are the writer's, and -ENOMEM; reading goes on in spite of
 * them. */
#ifndef LIB_CAPTURE_DRAIN_H
#define LIB_CAPTURE_DRAIN_H

#include "capture/read/recording.h"

/* Drain: moves all that is in the rings to the writer. *fill, if not NULL: the fullest ring before,
 * in percent. */
int recording_drain(struct recording *recording, u32 *fill);

/* Drain, events going on: all that was recorded until now goes to the writer, and the user stacks
 * that are not known yet get their reasons. What follows is for another file. */
int recording_end_window(struct recording *recording);

/* Frozen, or flight and detached: writes what the rings hold; they keep it. */
int recording_snapshot(struct recording *recording);

#endif
