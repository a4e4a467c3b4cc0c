/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that read the capabilities of this process, and one that drops capabilities. */
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

/* Returns the effective capabilities, as bits. */
u64 capability_held(void);

/* True if the process may load programs: with CAP_BPF and CAP_PERFMON, or with CAP_SYS_ADMIN. */
bool capability_allows_loading_programs(void);

/* Returns advice for a message after the kernel has refused a program or map. */
const char *capability_advice(void);

/*
 * Drops all other capabilities for good: they are removed from all sets, and no_new_privs prevents
 * executed programs from getting them back. The call affects only this thread, so a process calls
 * it before it creates threads. 0 or -errno.
 */
int capability_keep_only(u64 capabilities);

#endif
