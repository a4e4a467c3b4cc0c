/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distinct traces and spans of a recording, in the order in which they came. */
#ifndef LIB_TRACE_CONTEXT_SET_H
#define LIB_TRACE_CONTEXT_SET_H

#include "hash_index.h"
#include "trace/event.h"

#define CONTEXT_HALVES (sizeof(struct trace_context) / sizeof(u32))

/* All zero: an empty set. */
struct context_set {
	u64 keys[CONTEXT_HALVES]; /* of the hash */
	struct trace_context *items;
	u32 room;
	struct hash_index index;
};

static inline u32 context_set_count(const struct context_set *set)
{
	return set->index.count;
}

/* Sets *number to the number of an equal context, which is added if the set lacks it. -ENOMEM,
 * -E2BIG: the set is full. */
int context_set_number(struct context_set *set, const struct trace_context *context, u32 *number);
void context_set_free(struct context_set *set);

#endif
