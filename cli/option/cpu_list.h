/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists as the kernel writes them: "0-3,8". */
#ifndef CLI_CPU_LIST_H
#define CLI_CPU_LIST_H

#include <stddef.h>

#include "config.h"
#include "scalar.h"

/* Sets the bits named in `text`. -EINVAL: not a list; -ERANGE: a CPU that cannot be. The mask is
 * then of no use. */
int cpu_list_parse(const char *text, u64 mask[CONFIG_CPUS_MAX / 64]);

/* The CPUs that are online, and as the kernel writes them, cut to `room` bytes: 0 or -errno. */
int cpu_list_online(char *text, size_t room, u64 mask[CONFIG_CPUS_MAX / 64]);

#endif
