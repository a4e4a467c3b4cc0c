/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a ring is full, or where the capture aggregates, BPF programs count equal events in the rows
 * of a table instead of writing them to the ring (abi/counted.h). These functions move the counted
 * events to the file.
 */
#ifndef LIB_CAPTURE_COUNTED_EVENTS_H
#define LIB_CAPTURE_COUNTED_EVENTS_H

#include "capture/drain/recording.h"

/* Writes the events that were counted since the last call. Errors are those of the writer and
 * -ENOMEM. */
int counted_events_write(struct recording *recording);

/* The first function returns the number of events of a CPU that programs have counted so far,
 * without events that a reset has discarded. The second one returns how many of these events were
 * written to files. */
u64 count_counted_events_of_cpu(const struct loaded *loaded, u32 cpu);
u64 count_written_counted_events(const struct loaded *loaded, u32 cpu);

#endif
