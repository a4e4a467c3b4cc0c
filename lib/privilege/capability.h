/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads and drops the capabilities of this process. */
#ifndef LIB_PRIVILEGE_CAPABILITY_H
#define LIB_PRIVILEGE_CAPABILITY_H

#include <stdbool.h>

#include <linux/capability.h>

#include "scalar.h"

#define CAPABILITY(cap) (1ULL << (cap))

/* The capabilities to open files and read memory of other users' processes. */
#define CAPABILITIES_READING                                                                       \
	(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |                            \
	 CAPABILITY(CAP_CHECKPOINT_RESTORE))

/* The effective capabilities, as bits. */
u64 capability_held(void);

/* True with CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, which loading of programs requires. */
bool capability_to_trace(void);

/* Advice after the kernel has refused a program or map. */
const char *capability_advice(void);

/* Drops all other capabilities for good: all sets lose them, and no_new_privs keeps executed
 * programs from getting them back. The call affects this thread only, so a process calls it before
 * it makes threads. 0 or -errno. */
int capability_keep(u64 capabilities);

#endif
