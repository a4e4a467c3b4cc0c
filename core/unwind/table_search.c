/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All state is in the struct file_table_search, a map value in BPF. The verifier does not track its
 * contents, so both results of a step lead to one state at the next step.
 */
#include "table_search.h"

#define SEARCH_STEPS 10 /* halvings of the range that leave one of FILE_TABLE_WORDS entries */

/*
 * Sets search->at to the index of the last entry that is not greater than the target, or to 0 if
 * the first entry is greater. The searched range is `left` entries from `at` on. The half is chosen
 * by a multiplication: neither the CPU nor the verifier has a branch to follow.
 */
CORE_GLOBAL_PART int find_last_entry(struct file_table_search *search,
				     const struct file_table_chunk *chunk, u32 mask)
{
	u32 at = 0, left, target;

	if (core_is_null(search) || core_is_null(chunk))
		return 0;
	left = chunk->count;
	target = search->target;
	for (u32 i = 0; i < SEARCH_STEPS; i++) {
		u32 half = left / 2, middle = at + half;

		core_one_register(middle);
		if (middle >= FILE_TABLE_WORDS)
			break;
		at += half * (u32)(1 - is_below(target, chunk->word[middle] & mask));
		left -= half;
	}
	search->at = at;
	return 0;
}

CORE_PART u32 word_of_table_chunk(const struct file_table_chunk *chunk, u32 index)
{
	core_one_register(index);
	return index < FILE_TABLE_WORDS ? chunk->word[index] : 0;
}

/*
 * Goes from a chunk of offsets to the chunk that the found entry points to. NULL: the offset is
 * less than all entries, or a chunk is missing.
 */
CORE_PART const struct file_table_chunk *
find_child_table_chunk(struct file_table_search *search, const struct file_table_chunk *chunk)
{
	u32 at;

	if (!chunk || !chunk->count)
		return 0;
	search->target = search->offset;
	find_last_entry(search, chunk, ~0U);
	at = core_reload(search->at);
	search->start = word_of_table_chunk(chunk, at);
	return search->start > search->offset
		       ? 0
		       : file_table_chunk(search, search->base + chunk->first + at);
}

CORE_PART bool read_table_rule(struct file_table_search *search, u32 first, u32 rule)
{
	u32 index = rule - 1, at = index % FILE_TABLE_RULES * FILE_TABLE_RULE_WORDS;
	const struct file_table_chunk *chunk =
		file_table_chunk(search, search->base + first + index / FILE_TABLE_RULES);

	core_one_register(at);
	if (!rule || !chunk || at > FILE_TABLE_WORDS - FILE_TABLE_RULE_WORDS)
		return false;
	__builtin_memcpy(&search->rule, &chunk->word[at], sizeof(search->rule));
	return true;
}

/*
 * True if the root is still the one that the search began with. Another table may have reused the
 * root's memory when it is read, but no other root has the same base. The loads happen in program
 * order: the compiler keeps the order around a map lookup, and x86 keeps the order of loads.
 */
CORE_PART bool is_root_unchanged(struct file_table_search *search)
{
	const struct file_table_chunk *root = file_table_chunk(search, FILE_TABLE_ROOT);

	if (!root || atomic_load_relaxed(&root->base) != search->base)
		return false;
	file_table_mark_used(search, root);
	return true;
}

CORE_GLOBAL int file_table_find(struct file_table_search *search)
{
	const struct file_table_chunk *root, *leaf;
	u32 distance, row, next;

	if (core_is_null(search))
		return 0;
	root = file_table_chunk(search, FILE_TABLE_ROOT);
	search->base = root ? root->base : 0;
	search->is_partial = root ? root->is_partial : 0;
	leaf = find_child_table_chunk(search, find_child_table_chunk(search, root));
	if (!leaf)
		return 0;
	distance = search->offset - search->start;
	search->target = distance < FILE_TABLE_DISTANCE_MAX ? distance : FILE_TABLE_DISTANCE_MAX;
	find_last_entry(search, leaf, FILE_TABLE_DISTANCE_MAX);
	row = word_of_table_chunk(leaf, core_reload(search->at));
	next = core_reload(search->at) + 1;
	search->from = search->start + (row & FILE_TABLE_DISTANCE_MAX);
	search->to = next < leaf->count ? search->start + (word_of_table_chunk(leaf, next) &
							   FILE_TABLE_DISTANCE_MAX)
					: search->offset + 1;
	return read_table_rule(search, leaf->first, FILE_TABLE_ROW_RULE(row)) &&
	       is_root_unchanged(search);
}
