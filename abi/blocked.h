/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A task that is blocked: what was known of it when it left its CPU. */
#ifndef STACKMAP_ABI_BLOCKED_H
#define STACKMAP_ABI_BLOCKED_H

#include "scalar.h"

/* A value in `blocked`, by thread id. */
struct blocked {
	u64 since;	/* ns, CLOCK_MONOTONIC */
	u64 user;	/* its user stack as in an event: field and state << 32 */
	u64 generation; /* of the stack map, for an id */
};

#define BLOCKED_FIELD(user) ((u32)(user))
#define BLOCKED_STATE(user) ((u32)((user) >> 32) & 3)

#endif
