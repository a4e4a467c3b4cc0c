/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the stacks of an answer by their hashes: frames, function names, and objects. Each key is
 * resolved once: later servers are asked for the unresolved keys only.
 *
 * Servers are not trusted: every number is checked, and a text ends at its first NUL.
 */
#ifndef LIB_STORE_READ_CODE_H
#define LIB_STORE_READ_CODE_H

#include "arena.h"
#include "store/read/counts.h"

#define STORE_DEPTH_MAX 1024 /* the most frames of a stack: kernel and user frames together */

struct store_object {
	struct intern_key key; /* id of the object */
	u32 number;	       /* number of the object in the answer, plus 1 */
	bool is_known;
	u8 kind; /* kind of the object: enum frame_identity_kind, or a value of a newer agent */
	bool is_kernel;
	u32 build_id_bytes;
	u8 build_id[20];
	const char *path;
};

/* A code address, as the offset in its object that is looked up in tables of functions. */
struct store_frame {
	struct intern_key key; /* object and offset */
	u32 number;	       /* number of the frame in the answer, plus 1 */
	struct store_object *object;
	u64 start, size;	/* start and size of the function; size 0: unknown */
	const char **functions; /* function names, innermost first; all but the last are inlined */
	u32 function_count;	/* number of function names; 0: the frame has no name */
};

struct store_place {
	struct store_frame *frame;
	bool is_executed; /* true: the frame is at the next instruction; false: at a return address,
			     one byte after the frame's offset */
};

struct store_stack {
	bool is_known;
	u8 leaf; /* the part whose first frame is the leaf: 1 kernel, 2 user; 0: the stack has no
		    leaf */
	const char *kernel_end, *user_end;
	u32 kernel_depth, depth;
	/* frames of the kernel, then of user code, each innermost first */
	struct store_place *places;
};

struct store_code {
	struct arena arena;
	struct store_stack *stacks; /* stacks of the answer; index: number of the stack */
	u32 stack_count;
	struct intern frames, objects;
};

int store_code_read(struct shards *shards, const struct store_question *question,
		    struct store_counts *counts, struct store_code *code,
		    struct stackmap_error *error);
void store_code_clear(struct store_code *code);

#endif
