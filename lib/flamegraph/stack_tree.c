/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While the tree grows, a child is found by (parent, frame) in a hash table. Siblings are linked
 * when the tree is complete: all nodes are sorted once by frame, in descending order, and each node
 * is put at the head of its parent's list of children, which is then in ascending order. Walks
 * through the tree follow the links and do not recurse, since a recording may have very deep
 * stacks.
 */
#include "stack_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/name/frame_names.h"

int stack_tree_create(struct stack_tree *tree)
{
	static const struct intern_key root;
	struct stack_tree new = {.texts = TEXT_SET,
				 .objects = INTERN(struct tree_object),
				 .frames = INTERN(struct tree_frame),
				 .nodes = INTERN(struct tree_node)};

	new.root = intern_find_or_add_entry(&new.nodes, &root);
	if (!new.root) {
		stack_tree_clear(&new);
		return -ENOMEM;
	}
	*tree = new;
	return 0;
}

void stack_tree_clear(struct stack_tree *tree)
{
	text_set_clear(&tree->texts);
	intern_clear(&tree->objects);
	intern_clear(&tree->frames);
	intern_clear(&tree->nodes);
	free(tree->sorted);
	tree->sorted = NULL;
}

static const struct tree_object *find_or_add_tree_object(struct stack_tree *tree, const char *path)
{
	const char *whole = text_set_intern(&tree->texts, path), *name = whole;
	struct tree_object *object;

	if (tree->by_file_name)
		name = text_set_intern(&tree->texts, frame_names_base_name(path));
	if (!whole || !name)
		return NULL;
	object = intern_find_or_add_entry(&tree->objects,
					  &(struct intern_key){{intern_word_of_address(name)}});
	if (object && !object->path) {
		object->path = whole;
		object->number = tree->objects.count - 1;
	}
	if (object && object->path != whole)
		object->path = name;
	return object;
}

const struct tree_frame *stack_tree_find_or_add_frame(struct stack_tree *tree, const char *name,
						      const char *object, enum frame_kind kind)
{
	const char *text = text_set_intern(&tree->texts, name);
	const struct tree_object *in = find_or_add_tree_object(tree, object);
	struct tree_frame *frame;

	if (!text || !in)
		return NULL;
	frame = intern_find_or_add_entry(&tree->frames,
					 &(struct intern_key){{intern_word_of_address(text),
							       intern_word_of_address(in), kind}});
	if (!frame)
		return NULL;
	frame->name = text;
	frame->object = in;
	frame->kind = kind;
	return frame;
}

struct tree_node *stack_tree_find_or_add_child(struct stack_tree *tree, struct tree_node *parent,
					       const struct tree_frame *frame)
{
	struct tree_node *node = intern_find_or_add_entry(
		&tree->nodes, &(struct intern_key){{intern_word_of_address(parent),
						    intern_word_of_address(frame)}});

	if (!node)
		return NULL;
	node->parent = parent;
	node->frame = frame;
	return node;
}

static int compare_frames_by_name(const void *a, const void *b)
{
	const struct tree_frame *left = *(struct tree_frame *const *)a;
	const struct tree_frame *right = *(struct tree_frame *const *)b;
	int order =
		strcmp(left->name, right->name) ?: strcmp(left->object->path, right->object->path);

	return order ?: (int)left->kind - (int)right->kind;
}

static int sort_frames(struct stack_tree *tree)
{
	u32 count = tree->frames.count;

	tree->sorted = calloc(count + 1UL, sizeof(struct tree_frame *));
	if (!tree->sorted)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		tree->sorted[i] = tree->frames.entries[i];
	qsort(tree->sorted, count, sizeof(struct tree_frame *), compare_frames_by_name);
	for (u32 i = 0; i < count; i++)
		tree->sorted[i]->number = i;
	return 0;
}

static int compare_nodes_by_descending_frame(const void *a, const void *b)
{
	const struct tree_node *left = *(struct tree_node *const *)a;
	const struct tree_node *right = *(struct tree_node *const *)b;

	return (left->frame->number < right->frame->number) -
	       (left->frame->number > right->frame->number);
}

static int sort_children(struct stack_tree *tree)
{
	u32 count = tree->nodes.count - 1; /* all nodes but the root, which is the first entry */
	struct tree_node **nodes = calloc(count + 1UL, sizeof(struct tree_node *));

	if (!nodes)
		return -ENOMEM;
	for (u32 i = 0; i < count; i++)
		nodes[i] = tree->nodes.entries[i + 1];
	qsort(nodes, count, sizeof(struct tree_node *), compare_nodes_by_descending_frame);
	for (u32 i = 0; i < count; i++) {
		nodes[i]->sibling = nodes[i]->parent->first_child;
		nodes[i]->parent->first_child = nodes[i];
	}
	free(nodes);
	return 0;
}

const struct tree_node *stack_tree_next(const struct tree_node *node)
{
	if (node->first_child)
		return node->first_child;
	while (node && !node->sibling)
		node = node->parent;
	return node ? node->sibling : NULL;
}

int stack_tree_sort(struct stack_tree *tree)
{
	u32 number = 0;
	int err = sort_frames(tree) ?: sort_children(tree);

	for (struct tree_node *node = tree->root; node && !err;
	     node = (void *)stack_tree_next(node))
		node->number = number++;
	return err;
}
