/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the rings hold at one moment. */
#ifndef LIB_CAPTURE_SNAPSHOT_H
#define LIB_CAPTURE_SNAPSHOT_H

#include "capture/drain/recording.h"

/* Frozen, or flight and detached: writes what the rings hold; they keep it. */
int recording_snapshot(struct recording *recording);

#endif
