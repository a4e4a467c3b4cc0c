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

static struct calltree_node *step_path(const struct profile *profile, void **index,
				       struct calltree_node *node, const struct profile_path *path,
				       u64 count)
{
	const char *marker = profile_path_marker(path);

	if (marker)
		node = step(index, node, marker, count);
	for (u32 i = path->depth; node && i-- > 0;)
		node = step(index, node, frame_names_label(profile->names, path->labels[i]), count);
	return node;
}

static int add_row(const struct profile *profile, void **index, struct calltree_node *root,
		   const struct profile_row *row)
{
	struct calltree_node *node = step_path(profile, index, root, row->user, row->count);

	if (node)
		node = step_path(profile, index, node, row->kernel, row->count);
	if (!node)
		return -ENOMEM;
	root->count += row->count;
	node->self += row->count;
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

static int add_rows(const struct profile *profile, u32 kind, struct calltree_node *root)
{
	void *index = NULL;
	int err = 0;

	for (u32 i = 0; i < profile->row_count && !err; i++)
		if (profile->rows[i]->kind == kind)
			err = add_row(profile, &index, root, profile->rows[i]);
	tdestroy(index, keep);
	return err;
}

int calltree_create(const struct profile *profile, u32 kind, struct calltree_node **out)
{
	struct child *top = calloc(1, sizeof(*top));
	struct calltree_node *root = &top->node;
	int err;

	if (!top)
		return -ENOMEM;
	root->name = "";
	err = add_rows(profile, kind, root);
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
