/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens an instance without a process from its pins. */
#ifndef LIB_CAPTURE_OPEN_H
#define LIB_CAPTURE_OPEN_H

#include "capture/bpffs/folder.h"
#include "capture/instance/metadata.h"
#include "capture/load/loaded.h"

/* *metadata is for the caller to free after `loaded`, which borrows its sources; it may be set on
 * failure, too. -EPROTO: another version of stackmap started the instance. */
int instance_open(struct loaded *loaded, struct folder *folder, struct metadata **metadata,
		  struct stackmap_error *error);

/* Sets `error` for a result of opening, and returns `result`. */
int instance_open_failed(struct folder *folder, int result, struct stackmap_error *error);

#endif
