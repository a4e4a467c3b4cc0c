/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks as nodes of a tree, outermost frame first: stacks with the same outer frames share nodes,
 * so a stack is the number of one node.
 */
#ifndef LIB_EXPORT_FRAME_TREE_H
#define LIB_EXPORT_FRAME_TREE_H

#include "event_stack.h"
#include "intern.h"

struct frame_node {
	struct intern_key key; /* parent, label, whether it is the kernel's */
	u32 parent;	       /* 0: outermost */
	u32 number;
	struct event_frame frame;
};

struct frame_tree;

int frame_tree_create(struct frame_tree **out); /* -ENOMEM */
void frame_tree_free(struct frame_tree **tree);

/* *number is 0 for a stack without frames. -ENOMEM. */
int frame_tree_add(struct frame_tree *tree, const struct event_stack *stack, u32 *number);

/* All nodes, by number from 1 on. Stops at the first non-zero return and returns it. */
int frame_tree_each(const struct frame_tree *tree,
		    int (*each)(void *arg, const struct frame_node *node), void *arg);

#endif
