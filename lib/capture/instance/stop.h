/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of an instance without a process. */
#ifndef LIB_CAPTURE_STOP_H
#define LIB_CAPTURE_STOP_H

#include "capture/bpffs/folder.h"

/* Removes a locked folder, and returns when the kernel has detached and freed the programs of the
 * instance, or after a second: then another process still has parts of the instance open. */
int instance_stop(struct folder *folder, struct stackmap_error *error);

#endif
