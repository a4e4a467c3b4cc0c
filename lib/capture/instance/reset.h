/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empties the stack map of an instance while it records, without losing events: events that a
 * reader has yet to read stay. Without a reader, and for a flight recorder, the events in the rings
 * are discarded with the map, and counted.
 *
 * The caller holds the lock of the instance, so one reset runs at a time.
 */
#ifndef LIB_CAPTURE_RESET_H
#define LIB_CAPTURE_RESET_H

#include "capture/load/loaded.h"
#include "scalar.h"
#include "stackmap/error.h"

struct folder;

/* Makes the second table, which a reset needs, unless it exists. Call while the process may still
 * make maps. */
int reset_prepare(struct loaded *loaded, struct stackmap_error *error);

/* Resets an instance without a reader; the caller keeps readers from starting. */
int reset_without_reader(struct loaded *loaded, struct stackmap_error *error);

/* Resets an instance with a reader, which may be this process. -EBUSY: the generation before the
 * current one was not read within `wait_ms`; the instance is unchanged. */
int reset_with_reader(struct loaded *loaded, u32 wait_ms, struct stackmap_error *error);

/* Resets the instance in a locked folder, with or without a reader. -EBUSY: the reader is behind.
 */
int reset_instance(struct loaded *loaded, struct folder *folder, struct stackmap_error *error);

/* The same, called by the reader itself, without waiting. */
int reset_by_reader(struct loaded *loaded, const char *name, struct stackmap_error *error);

/* reset_prepare() for an instance in a folder: the second table is pinned for later processes. */
int reset_prepare_instance(struct loaded *loaded, struct folder *folder,
			   struct stackmap_error *error);

#endif
