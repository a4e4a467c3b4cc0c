/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes are found by (parent, label, kernel or user) in a hash table. */
#include "frame_tree.h"

#include <errno.h>
#include <stdlib.h>

struct frame_tree {
	struct intern nodes; /* by number - 1 */
};

/* The number of the child, which is added if it is new; 0 without memory. */
static u32 child_of(struct frame_tree *tree, u32 parent, const struct event_frame *frame)
{
	const struct intern_key key = {{parent, frame->label_id, frame->in_kernel}};
	struct frame_node *node = intern_entry(&tree->nodes, &key);

	if (!node)
		return 0;
	if (!node->number) {
		node->parent = parent;
		node->number = tree->nodes.count;
		node->frame = *frame;
	}
	return node->number;
}

int frame_tree_add(struct frame_tree *tree, const struct event_stack *stack, u32 *number)
{
	u32 node = 0;

	for (u32 i = stack->depth; i-- > 0;) {
		node = child_of(tree, node, &stack->frames[i]);
		if (!node)
			return -ENOMEM;
	}
	*number = node;
	return 0;
}

int frame_tree_each(const struct frame_tree *tree,
		    int (*each)(void *arg, const struct frame_node *node), void *arg)
{
	int err = 0;

	for (u32 i = 0; i < tree->nodes.count && !err; i++)
		err = each(arg, tree->nodes.entries[i]);
	return err;
}

int frame_tree_create(struct frame_tree **out)
{
	struct frame_tree *tree = malloc(sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	tree->nodes = INTERN(struct frame_node);
	*out = tree;
	return 0;
}

void frame_tree_free(struct frame_tree **tree)
{
	if (!*tree)
		return;
	intern_clear(&(*tree)->nodes);
	free(*tree);
	*tree = NULL;
}
