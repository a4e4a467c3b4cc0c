/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Neighbours with the same rule become one row. The last row has no rule. */
#include "code_rows.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file_table.h"
#include "order.h"

static bool is_same_rule(const void *things, u32 index, const void *key)
{
	const struct unwind_rule *rules = things;

	return !memcmp(&rules[index], key, sizeof(*rules));
}

/* Sets *number to index + 1 of the rule, which is added if it is new; 0: there are
 * FILE_TABLE_RULES_MAX rules already. */
static int find_or_add_rule(struct code_rows *rows, const struct unwind_rule *rule, u32 *number)
{
	u32 hash = hash_end(hash_words(0, rule, sizeof(*rule)));
	u32 found = hash_index_find(&rows->index, hash, is_same_rule, rows->rules, rule);
	int result;

	*number = found == HASH_INDEX_NONE ? 0 : found + 1;
	if (*number || rows->rule_count == FILE_TABLE_RULES_MAX)
		return 0;
	result = array_make_room(rows->rules, rows->rule_count, rows->rule_room);
	result = result ?: hash_index_add(&rows->index, hash, rows->rule_count);
	if (result)
		return result;
	rows->rules[rows->rule_count++] = *rule;
	*number = rows->rule_count;
	return 0;
}

/* Adds a row; a row with the same offset is replaced. */
static int add_row(struct code_rows *rows, u64 offset, u32 rule)
{
	if (rows->count && rows->rows[rows->count - 1].offset == offset)
		rows->count--;
	if (rows->count ? rows->rows[rows->count - 1].rule == rule : !rule)
		return 0;
	if (rows->count == CODE_ROWS_MAX)
		return -E2BIG;
	if (array_make_room(rows->rows, rows->count, rows->room))
		return -ENOMEM;
	rows->rows[rows->count++] = (struct code_row){offset, rule};
	return 0;
}

int code_rows_add(struct code_rows *rows, u64 start, u64 end, const struct unwind_rule *rule)
{
	u32 number = 0;
	int result;

	if (end > UINT32_MAX)
		end = UINT32_MAX;
	if (start >= end)
		return 0;
	if (rows->count && start < rows->rows[rows->count - 1].offset)
		return -EBADMSG;
	result = rule ? find_or_add_rule(rows, rule, &number) : 0;
	result = result ?: add_row(rows, start, number);
	return result ?: add_row(rows, end, 0);
}

/* The file offset from which row `index` holds; UINT64_MAX: the row does not exist. */
static u64 offset_of_rule_row(const struct code_rows *rows, u32 index)
{
	return index < rows->count ? rows->rows[index].offset : UINT64_MAX;
}

/* The rule of row `index`; NULL: the row does not exist, or has no rule. */
static const struct unwind_rule *rule_of_rule_row(const struct code_rows *rows, u32 index)
{
	u32 rule = index < rows->count ? rows->rows[index].rule : 0;

	return rule ? &rows->rules[rule - 1] : NULL;
}

static u64 minimum(u64 a, u64 b)
{
	return a < b ? a : b;
}

int code_rows_merge(struct code_rows *rows, const struct code_rows *upper,
		    const struct code_rows *lower)
{
	u64 start = minimum(offset_of_rule_row(upper, 0), offset_of_rule_row(lower, 0)), end;
	int result = 0;

	/* `i` and `j` are the indexes of the next rows after `start`, in `upper` and in `lower`. */
	for (u32 i = 0, j = 0; start != UINT64_MAX && !result; start = end) {
		i += offset_of_rule_row(upper, i) == start;
		j += offset_of_rule_row(lower, j) == start;
		end = minimum(offset_of_rule_row(upper, i), offset_of_rule_row(lower, j));
		result = code_rows_add(rows, start, end,
				       rule_of_rule_row(upper, i - 1)
					       ?: rule_of_rule_row(lower, j - 1));
	}
	return result;
}

static bool are_rule_fields_in_range(const struct unwind_rule *rule)
{
	return rule->cfa_kind < CFA_KIND_COUNT && is_table_register(rule->cfa_register) &&
	       (is_table_register(rule->base) || rule->base == RULE_BASE_CFA);
}

static bool are_script_layout_fields_in_range(const struct script_layout *layout)
{
	const u32 frame_bytes = 8 * SCRIPT_FRAME_WORDS, code_bytes = 8 * SCRIPT_CODE_WORDS;
	const u32 all_bytes = 8 * (SCRIPT_WORD_BEHIND + 1);

	if (layout->runtime == SCRIPT_JAVA)
		return !layout->link;
	if (layout->runtime == SCRIPT_V8)
		return !layout->link && layout->v8.shared_name < 8 * V8_SHARED_WORDS &&
		       layout->v8.shared_script < 8 * V8_SHARED_WORDS &&
		       layout->v8.opcodes <= V8_OPCODES_MAX;
	if (layout->runtime == SCRIPT_PERL)
		return !layout->link;
	return layout->frame_code < frame_bytes && layout->frame_previous < all_bytes &&
	       layout->entry_mark < all_bytes && layout->code_type < code_bytes &&
	       layout->code_name < code_bytes && layout->code_file < code_bytes &&
	       layout->code_lines < code_bytes && layout->first_line < code_bytes &&
	       layout->code_number < code_bytes && layout->link_kind < SCRIPT_LINK_COUNT &&
	       layout->thread_next < code_bytes && layout->thread_id < code_bytes &&
	       layout->thread_frame < code_bytes && layout->frame_place < frame_bytes &&
	       layout->code_count < code_bytes && layout->code_owner < code_bytes &&
	       layout->entry_from < frame_bytes && layout->line_shift < 32 &&
	       layout->code_end < 2 && layout->text_kind < SCRIPT_TEXT_COUNT &&
	       layout->runtime < SCRIPT_RUNTIME_COUNT;
}

const struct unwind_rule *code_rows_rule(const struct code_rows *rows, u64 offset)
{
	size_t count = bisect(rows->count, i, rows->rows[i].offset <= offset);

	return count && rows->rows[count - 1].rule ? &rows->rules[rows->rows[count - 1].rule - 1]
						   : NULL;
}

bool code_rows_are_sound(const struct code_rows *rows)
{
	if (rows->count > CODE_ROWS_MAX || rows->rule_count > FILE_TABLE_RULES_MAX ||
	    !are_script_layout_fields_in_range(&rows->script))
		return false;
	for (u32 i = 0; i < rows->rule_count; i++)
		if (!are_rule_fields_in_range(&rows->rules[i]))
			return false;
	for (u32 i = 0; i < rows->count; i++)
		if (rows->rows[i].rule > rows->rule_count ||
		    (i && rows->rows[i].offset <= rows->rows[i - 1].offset))
			return false;
	return !rows->count || !rows->rows[rows->count - 1].rule;
}

void code_rows_clear(struct code_rows *rows)
{
	free(rows->rows);
	free(rows->rules);
	hash_index_free(&rows->index);
	*rows = (struct code_rows){};
}
