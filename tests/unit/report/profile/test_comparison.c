/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/profile/comparison.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

struct thing {
	const char *text;
	double percent;
	u64 count;
};

static struct compared_list list_of(const struct thing *things, u32 count)
{
	struct compared_list list;

	assert_int_equal(compared_list_create(&list, count), 0);
	for (u32 i = 0; i < count; i++)
		list.items[i] = (struct compared_item){.text = strdup(things[i].text),
						       .share = {.percent = things[i].percent,
								 .count = things[i].count,
								 .amount = (double)things[i].count,
								 .rank = things[i].percent}};
	return list;
}

static void check(const struct comparison_row *row, double before, double after, u64 counts[2])
{
	assert_true(row->share[BEFORE].percent == before);
	assert_true(row->share[AFTER].percent == after);
	assert_true(comparison_delta(row) == after - before);
	assert_true(comparison_change(row) == (double)counts[AFTER] - (double)counts[BEFORE]);
	assert_int_equal(row->share[BEFORE].count, counts[BEFORE]);
	assert_int_equal(row->share[AFTER].count, counts[AFTER]);
}

TEST(join)
{
	static const struct thing before[] = {{"same", 25, 1}, {"gone", 25, 1}, {"less", 50, 2}};
	static const struct thing after[] = {
		{"less", 12.5, 1}, {"new", 50, 4}, {"same", 12.5, 1}, {"same", 25, 2}};
	struct compared_list lists[] = {list_of(before, 3), list_of(after, 4)};
	struct comparison *comparison;

	assert_int_equal(comparison_create(lists, &comparison), 0);
	assert_int_equal(comparison->row_count, 4);
	check(&comparison->rows[0], 0, 50, (u64[]){0, 4});
	assert_int_equal(comparison->rows[0].side, AFTER);
	assert_int_equal(comparison->rows[0].index, 1);
	check(&comparison->rows[1], 50, 12.5, (u64[]){2, 1});
	assert_int_equal(comparison->rows[1].side, BEFORE);
	check(&comparison->rows[2], 25, 0, (u64[]){1, 0});
	check(&comparison->rows[3], 25, 37.5, (u64[]){1, 3});
	comparison_free(&comparison);
	assert_null(comparison);
	compared_list_free(&lists[BEFORE]);
	compared_list_free(&lists[AFTER]);
}

TEST(nothing)
{
	struct compared_list lists[] = {list_of(NULL, 0), list_of(NULL, 0)};
	struct comparison *comparison;

	assert_int_equal(comparison_create(lists, &comparison), 0);
	assert_int_equal(comparison->row_count, 0);
	comparison_free(&comparison);
	compared_list_free(&lists[BEFORE]);
	compared_list_free(&lists[AFTER]);
}
