/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * While the tree grows, (parent, name) leads to the child by a search tree, so that a parent with
 * thousands of children (code without symbols) costs no more than any other. Equal labels
 * share one string, so names are compared by address.
 */
#include "calltree.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "whole_stack.h"

struct child {
	struct calltree_node node; /* first */
	const struct calltree_node *parent;
};

static int order(const void *a, const void *b)
{
	return (a > b) - (a < b);
}

static int compare_children(const void *a, const void *b)
{
	const struct child *left = a, *right = b;

	if (left->parent != right->parent)
		return order(left->parent, right->parent);
	return order(left->node.name, right->node.name);
}

static struct calltree_node *add_child(void **index, struct calltree_node *parent, const char *name)
{
	struct child *child = calloc(1, sizeof(*child));

	if (!child)
		return NULL;
	child->parent = parent;
	child->node.name = name;
	if (!tsearch(child, index, compare_children)) {
		free(child);
		return NULL;
	}
	child->node.next = parent->first_child;
	parent->first_child = &child->node;
	return &child->node;
}

static struct calltree_node *step(void **index, struct calltree_node *parent, const char *name,
				  u64 count)
{
	struct child key = {.node.name = name, .parent = parent};
	struct child **found = tfind(&key, index, compare_children);
	struct calltree_node *node = found ? &(*found)->node : add_child(index, parent, name);

	if (node)
		node->count += count;
	return node;
}

/* From the root of the tree on: `step` is 1 towards outer frames, -1 towards inner ones. */
struct walk {
	u32 first, count;
	int step;
};

static struct walk whole_walk(const struct whole_stack *stack)
{
	return (struct walk){.first = stack->depth - 1, .count = stack->depth, .step = -1};
}

/* The frames that the outermost of the functions calls. */
static bool callees_walk(const struct whole_stack *stack, const struct function_set *functions,
			 struct walk *walk)
{
	for (u32 i = stack->depth; i-- > 0;) {
		if (!function_set_has(functions, stack->labels[i]))
			continue;
		*walk = (struct walk){.first = i - 1, .count = i, .step = -1};
		return true;
	}
	return false;
}

/* The frames that call the innermost of the functions. */
static bool callers_walk(const struct whole_stack *stack, const struct function_set *functions,
			 struct walk *walk)
{
	for (u32 i = 0; i < stack->depth; i++) {
		if (!function_set_has(functions, stack->labels[i]))
			continue;
		*walk = (struct walk){.first = i + 1, .count = stack->depth - i - 1, .step = 1};
		return true;
	}
	return false;
}

/* False if the stack has no part in this tree. */
static bool find_walk(const struct whole_stack *stack, const struct calltree_options *options,
		      struct walk *walk)
{
	if (options->view == CALLTREE_CALLEES)
		return callees_walk(stack, options->functions, walk);
	if (options->view == CALLTREE_CALLERS)
		return callers_walk(stack, options->functions, walk);
	*walk = whole_walk(stack);
	return true;
}

struct builder {
	const struct profile *profile;
	const struct calltree_options *options;
	struct calltree_node *root;
	void *index;
	struct whole_stack stack;
};

static int add_row(struct builder *builder, const struct profile_row *row)
{
	u64 weight = profile_row_weight(row, builder->options->by);
	struct calltree_node *node = builder->root;
	struct walk walk;

	if (whole_stack_set(&builder->stack, builder->profile, row))
		return -ENOMEM;
	if (!find_walk(&builder->stack, builder->options, &walk))
		return 0;
	for (u32 at = walk.first; node && walk.count--; at += walk.step)
		node = step(&builder->index, node,
			    frame_names_label(builder->profile->names, builder->stack.labels[at]),
			    weight);
	if (!node)
		return -ENOMEM;
	builder->root->count += weight;
	node->self += weight;
	return 0;
}

/* Merge sort of the siblings: stable, so equal counts keep the order in which they were met. */
static struct calltree_node *merge(struct calltree_node *a, struct calltree_node *b)
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

static struct calltree_node *sort(struct calltree_node *list)
{
	struct calltree_node *slow = list, *fast, *second;

	if (!list || !list->next)
		return list;
	for (fast = list->next; fast && fast->next; fast = fast->next->next)
		slow = slow->next;
	second = slow->next;
	slow->next = NULL;
	return merge(sort(list), sort(second));
}

static void sort_all(struct calltree_node *node)
{
	node->first_child = sort(node->first_child);
	for (struct calltree_node *child = node->first_child; child; child = child->next)
		sort_all(child);
}

static void keep(void *node)
{
	(void)node;
}

static int add_rows(const struct profile *profile, const struct calltree_options *options,
		    struct calltree_node *root)
{
	struct builder builder = {.profile = profile, .options = options, .root = root};
	int err = 0;

	for (u32 i = 0; i < profile->row_count && !err; i++)
		if (profile->rows[i]->kind == options->kind)
			err = add_row(&builder, profile->rows[i]);
	tdestroy(builder.index, keep);
	whole_stack_free(&builder.stack);
	return err;
}

int calltree_create(const struct profile *profile, const struct calltree_options *options,
		    struct calltree_node **out)
{
	struct child *top = calloc(1, sizeof(*top));
	struct calltree_node *root = &top->node;
	int err;

	if (!top)
		return -ENOMEM;
	root->name = "";
	err = add_rows(profile, options, root);
	if (err) {
		calltree_free(&root);
		return err;
	}
	sort_all(root);
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
