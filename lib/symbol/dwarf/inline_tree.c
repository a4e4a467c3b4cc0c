/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compilers let blocks overlap, so every way down from the function is gone whose parts all cover
 * the address, and the one with most calls counts. Reading an entry is dear and a range is two
 * numbers, so parts are kept: addresses come in ascending order, many of one function.
 */
#include "inline_tree.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "dwarf_unit.h"

#define NESTING_MAX 256
#define PARTS_MAX (1U << 22)
#define RANGES_MAX (1U << 24)

/* A way down to an address. */
struct descent {
	struct inline_tree *tree;
	u64 address;
	u32 depth, best_depth;
	u32 way[CODE_PLACES_MAX]; /* the calls so far, outermost first: parts */
	u32 *best;		  /* the deepest that was found */
};

static int add_range(void *arg, u64 start, u64 end)
{
	struct inline_tree *tree = arg;

	if (tree->range_count == RANGES_MAX ||
	    array_make_room(tree->ranges, tree->range_count, tree->range_room))
		return -ENOMEM;
	tree->ranges[tree->range_count++] = (struct inline_range){start, end};
	return 0;
}

static int add_part(struct inline_tree *tree, Dwarf_Die *die, bool is_call)
{
	struct inline_part part = {
		.die = *die, .is_call = is_call, .first_range = tree->range_count};
	int result;

	result = dwarf_entry_ranges(die, tree->text, add_range, tree);
	tree->is_damaged |= result == -EBADMSG;
	if (result == -ENOMEM || tree->part_count == PARTS_MAX ||
	    array_make_room(tree->parts, tree->part_count, tree->part_room))
		return -ENOMEM;
	part.range_count = tree->range_count - part.first_range;
	tree->parts[tree->part_count++] = part;
	return 0;
}

static bool is_part_of_body(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

static int read_children(struct inline_tree *tree, u32 parent)
{
	Dwarf_Die die;
	int more = dwarf_child(&tree->parts[parent].die, &die), result = 0;

	tree->parts[parent].is_read = true;
	tree->parts[parent].first_child = tree->part_count;
	for (; !more && !result; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (is_part_of_body(tag))
			result = add_part(tree, &die, tag == DW_TAG_inlined_subroutine);
	}
	tree->is_damaged |= more < 0;
	tree->parts[parent].child_count = tree->part_count - tree->parts[parent].first_child;
	return result;
}

static bool covers(const struct inline_tree *tree, const struct inline_part *part, u64 address)
{
	const struct inline_range *range = &tree->ranges[part->first_range];

	for (u32 i = 0; i < part->range_count; i++)
		if (address >= range[i].start && address < range[i].end)
			return true;
	return false;
}

static void keep_best(struct descent *descent)
{
	if (descent->depth <= descent->best_depth)
		return;
	descent->best_depth = descent->depth;
	memcpy(descent->best, descent->way, descent->depth * sizeof(*descent->best));
}

static int descend(struct descent *descent, u32 parent, u32 nesting)
{
	struct inline_tree *tree = descent->tree;
	int result = tree->parts[parent].is_read ? 0 : read_children(tree, parent);
	u32 child = tree->parts[parent].first_child, end = child + tree->parts[parent].child_count;

	for (; child < end && !result && nesting < NESTING_MAX; child++) {
		bool is_call = tree->parts[child].is_call;

		if (!covers(tree, &tree->parts[child], descent->address) ||
		    descent->depth == CODE_PLACES_MAX)
			continue;
		descent->way[descent->depth] = child;
		descent->depth += is_call;
		keep_best(descent);
		result = descend(descent, child, nesting + 1);
		descent->depth -= is_call;
	}
	return result;
}

int inline_tree_begin(struct inline_tree *tree, const Dwarf_Die *function,
		      const struct code_ranges *text)
{
	Dwarf_Die die = *function;

	tree->text = text;
	tree->part_count = tree->range_count = 0;
	return add_part(tree, &die, true);
}

int inline_tree_find(struct inline_tree *tree, u64 address, u32 calls[CODE_PLACES_MAX])
{
	struct descent descent = {.tree = tree, .address = address, .depth = 1, .best = calls};
	int result;

	keep_best(&descent);
	result = descend(&descent, 0, 0);
	return result ?: (int)descent.best_depth;
}

void inline_tree_clear(struct inline_tree *tree)
{
	free(tree->parts);
	free(tree->ranges);
	*tree = (struct inline_tree){};
}
