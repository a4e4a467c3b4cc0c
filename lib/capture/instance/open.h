/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The instance that lives in a folder, opened from its pins. */
#ifndef LIB_CAPTURE_OPEN_H
#define LIB_CAPTURE_OPEN_H

#include "capture/bpffs/folder.h"
#include "capture/instance/metadata.h"
#include "capture/load/loaded.h"

/* *metadata: what it says of itself, for the caller to free after `loaded`, which has its sources;
 * set even if what follows fails. -EPROTO: another version started it. */
int instance_open(struct loaded *loaded, struct folder *folder, struct metadata **metadata,
		  struct stackmap_error *error);

/* Says why; returns `result`. */
int instance_open_failed(struct folder *folder, int result, struct stackmap_error *error);

#endif
