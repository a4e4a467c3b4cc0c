/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empties the stack map of an instance while it records, without losing events: events that a
 * reader has not read yet stay. Without a reader, and for a flight recorder, the events in the
 * rings are discarded together with the stacks, and counted.
 *
 * The caller holds the lock of the instance, so one reset runs at a time.
 */
#ifndef LIB_CAPTURE_RESET_H
#define LIB_CAPTURE_RESET_H

#include "capture/load/loaded.h"
#include "scalar.h"
#include "stackmap/error.h"

struct folder;

/* Makes the second table of the stack map, which a reset needs, unless it exists. Call while the
 * process still has the privileges to make BPF maps. */
int reset_make_second_table(struct loaded *loaded, struct stackmap_error *error);

/* Resets an instance without a reader; the caller holds the reader's lock, so that no reader
 * starts. */
int reset_without_reader(struct loaded *loaded, struct stackmap_error *error);

/* Resets an instance with a reader, which may be this process. -EBUSY: within `wait_ms` the reader
 * has not read all events of the generation before the current one; the instance is unchanged. */
int reset_with_reader(struct loaded *loaded, u32 wait_ms, struct stackmap_error *error);

/* Resets the instance in a locked folder, with or without a reader. -EBUSY: the reader has not read
 * the events from before the last reset. */
int reset_instance(struct loaded *loaded, struct folder *folder, struct stackmap_error *error);

/* Resets the instance `name`; called by its reader, and does not wait. */
int reset_by_reader(struct loaded *loaded, const char *name, struct stackmap_error *error);

/* reset_make_second_table() for an instance in a folder: pins the second table, too, for later
 * processes. */
int reset_pin_second_table(struct loaded *loaded, struct folder *folder,
			   struct stackmap_error *error);

#endif
