/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The hash of a packed stack and its identity (depth, flags). The hash only picks candidates; a
 * comparison decides equality.
 */
#ifndef CORE_STACK_HASH_H
#define CORE_STACK_HASH_H

#include "env.h"
#include "stack.h"

/* All 64 bits of the result depend on every bit of the words, the depth, the flags and the seed. */
CORE_GLOBAL u64 stack_hash(const struct stack *stack, u64 seed);

#endif
