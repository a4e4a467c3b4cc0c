/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was inlined into one function, from its debug information: a tree of blocks and inlined
 * calls with their address ranges. A part is read when an address first leads into it, and kept for
 * the addresses that follow. All zero is the tree of no function.
 */
#ifndef LIB_SYMBOL_INLINE_TREE_H
#define LIB_SYMBOL_INLINE_TREE_H

#include <elfutils/libdw.h>

#include "symbol/elf/code_place.h"
#include "symbol/table/code_ranges.h"

struct inline_part {
	Dwarf_Die die;
	struct code_place place; /* for who asks: of the call, once `is_named` */
	u32 first_range, range_count;
	u32 first_child, child_count; /* of parts, once `is_read` */
	bool is_call;		      /* otherwise a block */
	bool is_read;
	bool is_named;
};

struct inline_tree {
	const struct code_ranges *text; /* symbol/elf/elf_text.h */
	struct inline_part *parts; /* the first is the function; children of one stand together */
	u32 part_count, part_room;
	struct inline_range {
		u64 start, end;
	} * ranges;
	u32 range_count, range_room;
	bool is_damaged; /* not all of some function could be read */
};

/* Begins anew with this function. `text` must outlive what follows. 0 or -ENOMEM. */
int inline_tree_begin(struct inline_tree *tree, const Dwarf_Die *function,
		      const struct code_ranges *text);

/* The function and the inlined calls that lead to the address, outermost first, by their indexes in
 * `parts`: their number, or -ENOMEM. */
int inline_tree_find(struct inline_tree *tree, u64 address, u32 calls[CODE_PLACES_MAX]);

void inline_tree_clear(struct inline_tree *tree);

#endif
