/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All stacks of a flame graph as one tree of frames, outermost first: stacks with the same outer
 * frames share nodes, so a stack is one node. A frame is a function: frames are equal in name,
 * object and kind.
 */
#ifndef LIB_FLAMEGRAPH_STACK_TREE_H
#define LIB_FLAMEGRAPH_STACK_TREE_H

#include "intern.h"

/* The kinds of frames, each with the name that the page has for it. */
#define FRAME_KINDS(X)                                                                             \
	X(TASK, "task", "no frame: the name of the task, outside of all its frames")               \
	X(USER, "user", "code of a file that is mapped into a process")                            \
	X(KERNEL, "kernel", "the kernel and its modules")                                          \
	X(JIT, "jit", "code that a process made itself")                                           \
	X(SCRIPT, "script", "a function of a program in an interpreter")                           \
	X(INLINED, "inlined", "a function that was compiled into its caller")                      \
	X(MISSING, "missing", "no frame: stands for those that are not known")

#define X(id, name, meaning) FRAME_KIND_##id,
enum frame_kind { FRAME_KINDS(X) FRAME_KIND_COUNT };
#undef X

struct tree_object {
	struct intern_key key; /* the object's key: address of its path, or of its file name if
				  by_file_name is set */
	const char *path;      /* path of the object: that of a file, or "[kernel.kallsyms]"...; "":
				  unknown */
	u32 number;
};

struct tree_frame {
	struct intern_key key; /* the key of a frame: name, object, kind */
	const char *name;
	const struct tree_object *object;
	enum frame_kind kind;
	u32 number; /* position of the frame in the order of names; stack_tree_sort() sets it */
};

struct tree_node {
	struct intern_key key;	  /* the key of a node: parent, frame */
	struct tree_node *parent; /* parent of the node; NULL: the node is the root */
	const struct tree_frame *frame;
	/* stack_tree_sort() links siblings in the order of their frames' positions. */
	struct tree_node *first_child, *sibling;
	u32 number; /* position of the node in preorder; stack_tree_sort() sets it */
};

struct stack_tree {
	struct text_set texts;
	struct intern objects, frames, nodes;
	struct tree_node *root;
	struct tree_frame **sorted; /* frames; index: number of the frame */

	/* Set before the first frame is added: files of one name in different folders are one
	 * object (frame_names_base_name()), whose path is the file name if it was found in several
	 * folders. */
	bool by_file_name;
};

int stack_tree_create(struct stack_tree *tree);
void stack_tree_clear(struct stack_tree *tree);

/* Two functions that return a frame, or the child of a node; it is added if it is new. Names are
 * copied. NULL: no memory. */
const struct tree_frame *stack_tree_find_or_add_frame(struct stack_tree *tree, const char *name,
						      const char *object, enum frame_kind kind);
struct tree_node *stack_tree_find_or_add_child(struct stack_tree *tree, struct tree_node *parent,
					       const struct tree_frame *frame);

/* Gives frames their positions by name, and nodes their positions in preorder. Called once, when
 * the tree is complete. -ENOMEM. */
int stack_tree_sort(struct stack_tree *tree);

/* Returns the next node in preorder; NULL after the last one. Needs stack_tree_sort(). */
const struct tree_node *stack_tree_next(const struct tree_node *node);

#endif
