/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls of one event source as a tree: the tree of whole stacks, outermost function first, or
 * the tree of one function: its callees (inwards) or its callers (outwards). The count of a node is
 * the number of events whose stack passes through it from the root on; `self` is the number of
 * events whose stack ends there, so
 *
 *    count = self + sum of the children's counts
 *
 * An event counts once in each tree: the tree of a function that calls itself goes inwards from the
 * outermost call, outwards from the innermost call.
 */
#ifndef LIB_REPORT_CALLTREE_H
#define LIB_REPORT_CALLTREE_H

#include "function_set.h"
#include "profile.h"

struct calltree_node {
	const char *name;
	const char *object; /* object that has the function's code; NULL: a marker, or the root */
	u64 count; /* number of events, or sum of their values if the tree weighs by value */
	u64 self;
	struct calltree_node *first_child; /* first child; siblings are sorted, hottest first */
	struct calltree_node *next;
};

enum calltree_view { CALLTREE_WHOLE, CALLTREE_CALLEES, CALLTREE_CALLERS };

struct calltree_options {
	u32 kind;
	enum profile_weight by;
	enum calltree_view view;
	/* for CALLEES and CALLERS: the functions at the root */
	const struct function_set *functions;
};

/* *out is the root, which has the name "" and stands for all events of the source, or for the
 * functions. -ENOMEM. */
int calltree_create(const struct profile *profile, const struct calltree_options *options,
		    struct calltree_node **out);
void calltree_free(struct calltree_node **root);

#endif
