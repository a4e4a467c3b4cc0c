/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks share their beginnings; frames and nodes have the order that the page relies on. */
#include "flamegraph/stack_tree.h"

#include <string.h>

#include "unit_test.h"

static struct stack_tree tree;

static int create(void **state)
{
	(void)state;
	return stack_tree_create(&tree);
}

static int clear(void **state)
{
	(void)state;
	stack_tree_clear(&tree);
	return 0;
}

static struct tree_node *push(struct tree_node *parent, const char *name, const char *object)
{
	const struct tree_frame *frame =
		stack_tree_find_or_add_frame(&tree, name, object, FRAME_KIND_USER);

	assert_non_null(frame);
	return stack_tree_find_or_add_child(&tree, parent, frame);
}

TEST(stacks_share_nodes, create, clear)
{
	struct tree_node *main_node = push(tree.root, "main", "a");

	assert_ptr_equal(push(tree.root, "main", "a"), main_node);
	assert_ptr_not_equal(push(tree.root, "main", "b"), main_node);
	assert_ptr_not_equal(push(main_node, "main", "a"), main_node);
	assert_int_equal(tree.nodes.count, 4);
	assert_int_equal(tree.frames.count, 2);
	assert_int_equal(tree.objects.count, 2);
}

TEST(files_by_name_are_the_same_in_any_folder, create, clear)
{
	const struct tree_frame *frame;

	tree.by_file_name = true;
	frame = stack_tree_find_or_add_frame(&tree, "f", "/old/a", FRAME_KIND_USER);
	assert_ptr_equal(stack_tree_find_or_add_frame(&tree, "f", "/old/a", FRAME_KIND_USER),
			 frame);
	assert_string_equal(frame->object->path, "/old/a");
	assert_ptr_equal(stack_tree_find_or_add_frame(&tree, "f", "/new/a", FRAME_KIND_USER),
			 frame);
	assert_string_equal(frame->object->path, "a");
	assert_ptr_not_equal(stack_tree_find_or_add_frame(&tree, "f", "/new/b", FRAME_KIND_USER),
			     frame);
	assert_int_equal(tree.objects.count, 2);
}

TEST(kinds_tell_frames_apart, create, clear)
{
	assert_ptr_not_equal(stack_tree_find_or_add_frame(&tree, "f", "", FRAME_KIND_USER),
			     stack_tree_find_or_add_frame(&tree, "f", "", FRAME_KIND_INLINED));
}

TEST(nodes_are_in_preorder_by_name, create, clear)
{
	static const char *const order[] = {"a", "z", "b", "c", "d", "a", "e"};
	const struct tree_node *node = tree.root;
	struct tree_node *b, *c;

	push(push(tree.root, "a", ""), "z", "");
	push(tree.root, "e", "");
	b = push(tree.root, "b", "");
	push(b, "d", "");
	c = push(b, "c", "");
	push(push(b, "d", ""), "a", "");
	assert_int_equal(stack_tree_sort(&tree), 0);
	for (u32 i = 0; i < sizeof(order) / sizeof(*order); i++) {
		node = stack_tree_next(node);
		assert_non_null(node);
		assert_string_equal(node->frame->name, order[i]);
		assert_int_equal(node->number, i + 1);
	}
	assert_null(stack_tree_next(node));
	assert_ptr_equal(c->parent, b);
}

TEST(frames_are_numbered_by_name, create, clear)
{
	push(tree.root, "b", "");
	push(tree.root, "a", "2");
	push(tree.root, "a", "1");
	assert_int_equal(stack_tree_sort(&tree), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(tree.sorted[i]->number, i);
	assert_string_equal(tree.sorted[0]->object->path, "1");
	assert_string_equal(tree.sorted[1]->object->path, "2");
	assert_string_equal(tree.sorted[2]->name, "b");
}

TEST(no_stack_is_a_tree_too, create, clear)
{
	assert_int_equal(stack_tree_sort(&tree), 0);
	assert_null(stack_tree_next(tree.root));
}
