/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random rows are packed and searched, and compared with the original rows; invalid rows; too many
 * rows; and chunks of random words, which a search survives. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_table_pack.h"
#include "unit_test.h"
#include "unwind/table_search.h"

static struct code_rows rows;
static struct file_table table;
static unsigned int seed = 1;

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	assert_int_equal(search->number, 7);
	return index < table.count ? &table.chunks[index] : NULL;
}

void file_table_mark_used(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

static u32 any(u32 below)
{
	return (u32)rand_r(&seed) % below;
}

static struct unwind_rule rule_of(u32 kind)
{
	return (struct unwind_rule){.cfa_offset = 8 * kind,
				    .cfa_register = REGISTER_SP,
				    .base = RULE_BASE_CFA,
				    .slot = {[SLOT_RETURN] = 1}};
}

static void forget(void)
{
	code_rows_clear(&rows);
	file_table_clear(&table);
}

/* Adds functions of one row each, some with gaps between them, some with large ones. */
static void add_functions(u32 count, u32 rules)
{
	u64 at = any(5000);

	for (u32 i = 0; i < count; i++) {
		struct unwind_rule rule = rule_of(any(rules));
		u64 end = at + 1 + (any(500) ? any(40) : any(300000));

		assert_int_equal(code_rows_add(&rows, at, end, any(50) ? &rule : NULL), 0);
		at = end + (any(10) ? 0 : any(500) ? any(30) : any(200000));
	}
	assert_true(code_rows_are_sound(&rows));
}

static const struct unwind_rule *rule_at(u32 offset)
{
	u32 low = 0, high = rows.count;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (rows.rows[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !rows.rows[low - 1].rule)
		return NULL;
	return &rows.rules[rows.rows[low - 1].rule - 1];
}

static void check_at(u32 offset)
{
	struct file_table_search search = {.number = 7, .offset = offset};
	const struct unwind_rule *expected = rule_at(offset);

	assert_int_equal(file_table_find(&search), expected != NULL);
	if (!expected)
		return;
	assert_memory_equal(&search.rule, expected, sizeof(*expected));
	assert_true(search.from <= offset && offset < search.to);
	assert_ptr_equal(rule_at(search.from), expected);
	assert_ptr_equal(rule_at(search.to - 1), expected);
}

static void check_starts(void)
{
	for (u32 i = 0; i < rows.count; i++) {
		struct file_table_search search = {.number = 7, .offset = rows.rows[i].offset};

		if (file_table_find(&search))
			assert_int_equal(search.from, search.offset);
		check_at(rows.rows[i].offset - 1);
		check_at(rows.rows[i].offset + 1);
	}
}

static void check_rows(u32 functions, u32 rules)
{
	add_functions(functions, rules);
	assert_int_equal(file_table_pack(&rows, &table), 0);
	check_starts();
	for (u32 i = 0; i < 2000; i++)
		check_at(any(rows.rows[rows.count - 1].offset + 1000));
	check_at(0);
	check_at(UINT32_MAX);
	forget();
}

TEST(a_table_says_what_the_rows_say)
{
	check_rows(1, 1);
	check_rows(2, 2);
	for (u32 i = 0; i < 20; i++)
		check_rows(1 + any(5000), 1 + any(1000));
	check_rows(1100000, 60000);
}

TEST(without_rows_there_are_no_rules)
{
	check_at(5);
	assert_int_equal(file_table_pack(&rows, &table), 0);
	assert_int_equal(table.count, 1);
	check_at(5);
	forget();
}

TEST(rows_ascend)
{
	struct unwind_rule rule = rule_of(1);

	assert_int_equal(code_rows_add(&rows, 100, 200, &rule), 0);
	assert_int_equal(code_rows_add(&rows, 99, 300, &rule), -EBADMSG);
	assert_int_equal(code_rows_add(&rows, 200, 300, &rule), 0);
	assert_int_equal(rows.count, 2);
	assert_int_equal(rows.rows[1].offset, 300);
	assert_int_equal(code_rows_add(&rows, 1ULL << 32, (1ULL << 32) + 5, &rule), 0);
	assert_int_equal(rows.count, 2);
	forget();
}

/* Code beyond the limit has no rule. */
TEST(the_number_of_rules_is_limited)
{
	for (u32 i = 0; i < FILE_TABLE_RULES_MAX + 10; i++) {
		struct unwind_rule rule = rule_of(i);

		assert_int_equal(code_rows_add(&rows, 4 * i, 4 * i + 4, &rule), 0);
	}
	assert_int_equal(rows.rule_count, FILE_TABLE_RULES_MAX);
	assert_int_equal(rows.rows[rows.count - 1].offset, 4 * FILE_TABLE_RULES_MAX);
	assert_int_equal(file_table_pack(&rows, &table), 0);
	check_at(4 * FILE_TABLE_RULES_MAX - 1);
	check_at(4 * FILE_TABLE_RULES_MAX);
	forget();
}

TEST(invalid_rows_are_detected)
{
	add_functions(100, 10);
	rows.rows[50].offset = rows.rows[49].offset;
	assert_false(code_rows_are_sound(&rows));
	forget();
	add_functions(100, 10);
	rows.rows[50].rule = rows.rule_count + 1;
	assert_false(code_rows_are_sound(&rows));
	forget();
	add_functions(100, 10);
	rows.rules[3].cfa_register = REGISTER_PC;
	assert_false(code_rows_are_sound(&rows));
	rows.rules[3] = rule_of(3);
	rows.rules[3].cfa_kind = CFA_KIND_COUNT;
	assert_false(code_rows_are_sound(&rows));
	rows.rules[3] = rule_of(3);
	rows.rows[rows.count - 1].rule = 1;
	assert_false(code_rows_are_sound(&rows));
	forget();
}

/* Sanitizers report invalid reads. */
TEST(any_chunks_give_a_valid_answer)
{
	add_functions(3000, 100);
	assert_int_equal(file_table_pack(&rows, &table), 0);
	for (u32 i = 0; i < 20000; i++) {
		struct file_table_search search = {.number = 7, .offset = any(1 << 20)};
		u32 *words = (u32 *)&table.chunks[any(table.count)];

		words[any(8) ? any(1000) : any(3)] = any(2) ? any(1 << 12) : (u32)rand_r(&seed) * 2;
		file_table_find(&search);
	}
	forget();
}
