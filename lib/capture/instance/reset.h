/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Emptying the stack map of an instance while it records. No event is lost by it: what a reader has
 * yet to read stays, and is read; where nobody reads, and of a flight recorder, what is in the
 * rings goes with the map, and is counted.
 *
 * One at a time: whoever calls these holds the lock of the instance.
 */
#ifndef LIB_CAPTURE_RESET_H
#define LIB_CAPTURE_RESET_H

#include "capture/load/loaded.h"
#include "scalar.h"
#include "stackmap/error.h"

struct folder;

/* Makes the second table, without which no reset is possible. To be done as long as maps may be
 * made; does nothing if it is there. */
int reset_prepare(struct loaded *loaded, struct stackmap_error *error);

/* Nobody reads, nor begins to. */
int reset_unread(struct loaded *loaded, struct stackmap_error *error);

/* Somebody reads, or this process does. -EBUSY: the generation before the current one was not read
 * within so many milliseconds; nothing has changed. */
int reset_followed(struct loaded *loaded, u32 wait_ms, struct stackmap_error *error);

/* The instance in a folder that the caller has locked: with its reader, if it has one. -EBUSY: the
 * reader is behind. */
int reset_instance(struct loaded *loaded, struct folder *folder, struct stackmap_error *error);

/* The same, by the reader itself, who does not wait. */
int reset_by_reader(struct loaded *loaded, const char *name, struct stackmap_error *error);

/* The same as reset_prepare(), of an instance in a folder: the second table becomes its own, and is
 * there for whoever comes later. */
int reset_prepare_instance(struct loaded *loaded, struct folder *folder,
			   struct stackmap_error *error);

#endif
