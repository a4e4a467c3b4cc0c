/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One stored stack in the pool: its layout, how it is built and how it is compared. */
#ifndef CORE_STACK_ELEMENT_H
#define CORE_STACK_ELEMENT_H

#include "env.h"
#include "stack.h"
#include "table.h"

/*
 * An element with room for any stack. Every pointer into the pool may be used as one, thanks to the
 * slack after the pool.
 */
struct table_view {
	u64 ref_count;
	u64 identity;
	u64 word[STACK_WORDS_MAX];
};
ABI_SIZE(struct table_view, 8 * TABLE_SLACK_WORDS);

#define IDENTITY(depth, flags, hash) ((u64)(hash) << 32 | (u64)(flags) << 16 | (depth))
#define IDENTITY_DEPTH(identity) ((u32)(identity)&0xffff)
#define IDENTITY_FLAGS(identity) ((u32)((identity) >> 16) & 0xffff)

/* True if a published element holds this stack: equal identity and equal words. */
CORE_GLOBAL int stack_element_equal(const struct table_view *element, const struct stack *stack,
				    u64 identity);

/* Builds an element that is not yet published, with its first reference. */
CORE_GLOBAL int stack_element_fill(struct table_view *element, const struct stack *stack,
				   u64 identity);

#endif
