/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While the tree grows, a child is found by (parent, name) in a hash table, so a parent with
 * thousands of children (code without symbols) costs no more than others. Equal labels share one
 * string, so names are compared by address.
 */
#include "calltree.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "hash_index.h"
#include "profile.h"

struct child {
	struct calltree_node *node;
	const struct calltree_node *parent;
};

struct builder {
	const struct profile *profile;
	const struct calltree_options *options;
	struct calltree_node *root;
	struct hash_index index;
	struct child *children; /* array of all nodes except the root */
	u32 room;
	struct whole_stack stack;
};

static bool is_same_child(const void *children, u32 index, const void *key)
{
	const struct child *child = &((const struct child *)children)[index];
	const struct child *wanted = key;

	return child->parent == wanted->parent && child->node->name == wanted->node->name;
}

static struct calltree_node *add_child(struct builder *builder, struct calltree_node *parent,
				       u32 label, u32 hash)
{
	u32 index = builder->index.count;
	struct calltree_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	if (array_make_room(builder->children, builder->index.count, builder->room) ||
	    hash_index_add(&builder->index, hash, index)) {
		free(node);
		return NULL;
	}
	builder->children[index] = (struct child){.node = node, .parent = parent};
	node->name = frame_names_label(builder->profile->names, label);
	node->object = frame_names_label_object(builder->profile->names, label);
	node->next = parent->first_child;
	parent->first_child = node;
	return node;
}

/* The part of a stack that is in the tree, from the root of the tree on: `step` is 1 towards outer
 * frames, -1 towards inner frames. */
struct tree_part {
	u32 first, count;
	int step;
};

/* Sets *part, which may be empty. False: the stack is not in the tree. */
static bool choose_part_of_stack_for_tree(const struct whole_stack *stack,
					  const struct calltree_options *options,
					  struct tree_part *part)
{
	const struct function_set *functions = options->functions;
	u32 i;

	switch (options->view) {
	case CALLTREE_CALLEES: /* the frames that the outermost of the functions has called */
		for (i = stack->depth; i > 0 && !function_set_has(functions, stack->labels[i - 1]);)
			i--;
		if (i)
			*part = (struct tree_part){.first = i - 2, .count = i - 1, .step = -1};
		return i;
	case CALLTREE_CALLERS: /* the frames that have called the innermost of the functions */
		for (i = 0; i < stack->depth && !function_set_has(functions, stack->labels[i]);)
			i++;
		*part = (struct tree_part){
			.first = i + 1, .count = stack->depth - i - 1, .step = 1};
		return i < stack->depth;
	default:
		*part = (struct tree_part){
			.first = stack->depth - 1, .count = stack->depth, .step = -1};
		return true;
	}
}

static int add_profile_row(struct builder *builder, const struct profile_row *row)
{
	u64 weight = profile_row_weight(row, builder->options->by);
	struct calltree_node *node = builder->root;
	struct tree_part part;

	if (whole_stack_set_labels_of_row(&builder->stack, builder->profile, row))
		return -ENOMEM;
	if (!choose_part_of_stack_for_tree(&builder->stack, builder->options, &part))
		return 0;
	for (u32 at = part.first; node && part.count--; at += part.step) {
		const char *name =
			frame_names_label(builder->profile->names, builder->stack.labels[at]);
		struct calltree_node named = {.name = name};
		const struct child key = {.node = &named, .parent = node};
		u32 hash = hash_end(hash_word(hash_word(0, (uintptr_t)node), (uintptr_t)name));
		u32 index = hash_index_find(&builder->index, hash, is_same_child, builder->children,
					    &key);

		node = index == HASH_INDEX_NONE
			       ? add_child(builder, node, builder->stack.labels[at], hash)
			       : builder->children[index].node;
		if (node)
			node->count += weight;
	}
	if (!node)
		return -ENOMEM;
	builder->root->count += weight;
	node->self += weight;
	return 0;
}

/* Merge sort of siblings. The sort is stable: equal counts keep the order of
 * first use. */
static struct calltree_node *merge_siblings(struct calltree_node *a, struct calltree_node *b)
{
	struct calltree_node *first = NULL, **end = &first;

	while (a && b) {
		struct calltree_node **hotter = b->count > a->count ? &b : &a;

		*end = *hotter;
		*hotter = (*hotter)->next;
		end = &(*end)->next;
	}
	*end = a ? a : b;
	return first;
}

static struct calltree_node *sort_siblings(struct calltree_node *list)
{
	struct calltree_node *slow = list, *fast, *second;

	if (!list || !list->next)
		return list;
	for (fast = list->next; fast && fast->next; fast = fast->next->next)
		slow = slow->next;
	second = slow->next;
	slow->next = NULL;
	return merge_siblings(sort_siblings(list), sort_siblings(second));
}

static void sort_subtree(struct calltree_node *node)
{
	node->first_child = sort_siblings(node->first_child);
	for (struct calltree_node *child = node->first_child; child; child = child->next)
		sort_subtree(child);
}

int calltree_create(const struct profile *profile, const struct calltree_options *options,
		    struct calltree_node **out)
{
	struct calltree_node *root = calloc(1, sizeof(*root));
	struct builder builder = {.profile = profile, .options = options, .root = root};
	int err = 0;

	if (!root)
		return -ENOMEM;
	root->name = "";
	for (u32 i = 0; i < profile->row_count && !err; i++)
		if (profile->rows[i]->kind == options->kind)
			err = add_profile_row(&builder, profile->rows[i]);
	hash_index_free(&builder.index);
	free(builder.children);
	whole_stack_free(&builder.stack);
	if (err) {
		calltree_free(&root);
		return err;
	}
	sort_subtree(root);
	*out = root;
	return 0;
}

void calltree_free(struct calltree_node **root)
{
	struct calltree_node *child = *root ? (*root)->first_child : NULL;

	while (child) {
		struct calltree_node *next = child->next;

		calltree_free(&child);
		child = next;
	}
	free(*root);
	*root = NULL;
}
