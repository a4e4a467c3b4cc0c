/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether this user can record here: tried by beginning a recording, as `record -a` does. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "capture/instance/status.h"

/* Begins one of CPU samples, in memory, and ends it at once. 0, and *way is that of its user
 * stacks, with the reason in *error if the kernel refused a better one, else an empty one; or
 * -errno with what `record` would say. Privileges are given up: the last thing that a process
 * tries. */
int trial_recording(enum user_way *way, struct stackmap_error *error);

#endif
