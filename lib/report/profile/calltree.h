/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who calls whom, of one event source: the whole tree, outermost function first; or that of one
 * function, inwards (what it calls) or outwards (who calls it). A node's count is that of all
 * events whose stack passes through it from the root on; `self` is that of those that end there, so
 *
 *   count = self + sum of the children's counts
 *
 * An event counts once in each tree: that of a function that calls itself goes inwards from its
 * outermost call, outwards from its innermost.
 */
#ifndef LIB_REPORT_CALLTREE_H
#define LIB_REPORT_CALLTREE_H

#include "function_set.h"
#include "profile.h"

struct calltree_node {
	const char *name;
	const char *object; /* of its code; NULL: a marker, or the root */
	u64 count;	    /* events or the sum of their values, as the tree weighs them */
	u64 self;
	struct calltree_node *first_child; /* hottest first */
	struct calltree_node *next;
};

enum calltree_view { CALLTREE_WHOLE, CALLTREE_CALLEES, CALLTREE_CALLERS };

struct calltree_options {
	u32 kind;
	enum profile_weight by;
	enum calltree_view view;
	const struct function_set *functions; /* CALLEES, CALLERS: of which */
};

/* *out is the root: its name is "", it stands for all events of the source, or for the functions.
 */
int calltree_create(const struct profile *profile, const struct calltree_options *options,
		    struct calltree_node **out);
void calltree_free(struct calltree_node **root);

#endif
