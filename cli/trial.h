/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether this user can record here: tried by beginning a recording, as `record -a` does. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "stackmap/error.h"

/* Begins one of CPU samples, in memory, and ends it at once. 0, or -errno with what `record` would
 * say. Privileges are given up: the last thing that a process tries. */
int trial_recording(struct stackmap_error *error);

#endif
