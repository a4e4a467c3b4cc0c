/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One stored stack in the pool: its layout, how it is built and how it is
 * compared.
 */
#ifndef _TRACE_STACKMAP_STACK_ELEMENT_H
#define _TRACE_STACKMAP_STACK_ELEMENT_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/types.h>

#include "stack.h"
#include "table.h"

/*
 * An element with room for any stack. Every pointer into the pool may be used
 * as one, thanks to the slack after the pool.
 */
struct stackid_element {
	atomic64_t ref_count;
	u64 identity;
	u64 word[STACKID_WORDS_MAX];
};

static_assert(sizeof(struct stackid_element) == 8 * STACKID_SLACK_WORDS);

#define STACKID_IDENTITY(depth, flags, hash)                                   \
	((u64)(hash) << 32 | (u64)(flags) << 16 | (depth))
#define STACKID_IDENTITY_DEPTH(identity) ((u32)(identity) & 0xffff)
#define STACKID_IDENTITY_FLAGS(identity) ((u32)((identity) >> 16) & 0xffff)

/*
 * True if a published element holds this stack: equal identity and equal words.
 */
bool stackid_element_equal(const struct stackid_element *element,
			   const struct stackid_stack *stack, u64 identity);

/* Builds an element that is not yet published, with its first reference. */
void stackid_element_fill(struct stackid_element *element,
			  const struct stackid_stack *stack, u64 identity);

#endif
