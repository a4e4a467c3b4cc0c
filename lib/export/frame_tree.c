/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A child is found by its parent and its label in a hash table (libiberty). */
#include "frame_tree.h"

#include <errno.h>
#include <stdlib.h>

#include <libiberty/hashtab.h>

#include "array.h"

#define NODES 4096 /* to begin with */

struct frame_tree {
	htab_t index;
	struct frame_node **nodes; /* by number - 1 */
	u32 count, room;
};

static hashval_t hash_node(const void *item)
{
	const struct frame_node *node = item;
	const u32 key[] = {node->parent, node->frame.label_id, node->frame.in_kernel};

	return iterative_hash(key, sizeof(key), 0);
}

static int same_node(const void *a, const void *b)
{
	const struct frame_node *left = a, *right = b;

	return left->parent == right->parent && left->frame.label_id == right->frame.label_id &&
	       left->frame.in_kernel == right->frame.in_kernel;
}

static struct frame_node *add_node(struct frame_tree *tree, const struct frame_node *key)
{
	struct frame_node *node;

	if (array_make_room(tree->nodes, tree->count, tree->room))
		return NULL;
	node = malloc(sizeof(*node));
	if (!node)
		return NULL;
	*node = *key;
	tree->nodes[tree->count++] = node;
	node->number = tree->count;
	return node;
}

static u32 child_of(struct frame_tree *tree, u32 parent, const struct event_frame *frame)
{
	struct frame_node key = {.parent = parent, .frame = *frame};
	void **slot = htab_find_slot(tree->index, &key, INSERT);

	if (!slot)
		return 0;
	if (!*slot)
		*slot = add_node(tree, &key);
	return *slot ? ((const struct frame_node *)*slot)->number : 0;
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

	for (u32 i = 0; i < tree->count && !err; i++)
		err = each(arg, tree->nodes[i]);
	return err;
}

int frame_tree_create(struct frame_tree **out)
{
	struct frame_tree *tree = calloc(1, sizeof(*tree));

	if (tree)
		tree->index = htab_try_create(NODES, hash_node, same_node, free);
	if (!tree || !tree->index) {
		free(tree);
		return -ENOMEM;
	}
	*out = tree;
	return 0;
}

void frame_tree_free(struct frame_tree **tree)
{
	if (!*tree)
		return;
	htab_delete((*tree)->index);
	free((*tree)->nodes);
	free(*tree);
	*tree = NULL;
}
