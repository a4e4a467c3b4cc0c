/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a packed stack and its identity (depth, flags). The hash only
 * picks candidates; a comparison decides equality.
 */
#ifndef _TRACE_STACKMAP_STACK_HASH_H
#define _TRACE_STACKMAP_STACK_HASH_H

#include <linux/types.h>

#include "stack.h"

/*
 * All 64 bits of the result depend on every bit of the words, the depth, the
 * flags and the seed.
 */
u64 stackid_hash(const struct stackid_stack *stack, u64 seed);

#endif
