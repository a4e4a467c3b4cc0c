/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capabilities of this process: which it has, and giving up those it needs no more. */
#ifndef LIB_PRIVILEGE_CAPABILITY_H
#define LIB_PRIVILEGE_CAPABILITY_H

#include <stdbool.h>

#include <linux/capability.h>

#include "scalar.h"

#define CAPABILITY(cap) (1ULL << (cap))

/* What it takes to open the files and read the memory of other users' processes. */
#define CAPABILITIES_READING                                                                       \
	(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |                            \
	 CAPABILITY(CAP_CHECKPOINT_RESTORE))

/* The effective ones, as bits. */
u64 capability_held(void);

/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN: without, no program is loaded. */
bool capability_to_trace(void);

/* After a refusal: what to do about it. */
const char *capability_advice(void);

/* Gives up all others for good, also for what this process may execute: no set has them any more,
 * and no_new_privs is set. Of this thread only: a process that has several calls it before. */
int capability_keep(u64 capabilities);

#endif
