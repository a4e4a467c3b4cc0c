/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves the events that programs have counted, since they found their ring full (abi/counted.h), to
 * the file.
 */
#ifndef LIB_CAPTURE_COUNTED_EVENTS_H
#define LIB_CAPTURE_COUNTED_EVENTS_H

#include "capture/drain/recording.h"

/* Writes what was added since the last call. Errors are those of the writer and -ENOMEM. */
int counted_events_take(struct recording *recording);

/* Events of a CPU that programs have counted so far and no reset has discarded, and those of them
 * that files have. */
u64 counted_events_sum(const struct loaded *loaded, u32 cpu);
u64 counted_events_reported(const struct loaded *loaded, u32 cpu);

#endif
