/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of numbers as users type them. */
#include "number_list.h"

#include <errno.h>
#include <stdint.h>

#include "unit_test.h"

TEST(numbers_and_ranges)
{
	struct number_list list = {};

	assert_false(number_list_has(&list, 0));
	assert_int_equal(number_list_parse_and_append(&list, "0-3,8", 100), 0);
	assert_int_equal(number_list_parse_and_append(&list, "100", 100), 0);
	for (u64 i = 0; i <= 101; i++)
		assert_int_equal(number_list_has(&list, i), i <= 3 || i == 8 || i == 100);
	number_list_clear(&list);
	assert_false(number_list_has(&list, 8));
}

static void assert_bits(const char *text, u64 first, u64 second)
{
	struct number_list list = {};
	u64 mask[2] = {};

	assert_int_equal(number_list_parse_and_append(&list, text, 127), 0);
	number_list_set_bits(&list, mask);
	assert_true(mask[0] == first && mask[1] == second);
	number_list_clear(&list);
}

TEST(bits)
{
	assert_bits("0", 1, 0);
	assert_bits("8,0-3", 0x10f, 0);
	assert_bits("5-5", 1 << 5, 0);
	assert_bits("2,2,1-2", 6, 0);
	assert_bits("63-65", 1ULL << 63, 3);
	assert_bits("127", 0, 1ULL << 63);
	assert_bits("0-127", UINT64_MAX, UINT64_MAX);
}

TEST(texts_that_are_no_list_are_refused)
{
	static const char *const wrong[] = {"",	   ",",	  "1,",	   ",1",  "1,,2", "-1",
					    "1-",  "3-1", "1-2-3", "x",	  "1 ",	  " 1",
					    "1 2", "1x",  "+1",	   "0x1", "1;2"};
	struct number_list list = {};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(number_list_parse_and_append(&list, wrong[i], 100), -EINVAL);
	assert_int_equal(number_list_parse_and_append(&list, "101", 100), -ERANGE);
	assert_int_equal(number_list_parse_and_append(&list, "1-101", 100), -ERANGE);
	assert_int_equal(number_list_parse_and_append(&list, "99999999999999999999", UINT64_MAX),
			 -ERANGE);
	assert_int_equal(number_list_parse_and_append(&list, "18446744073709551615", UINT64_MAX),
			 0);
	assert_true(number_list_has(&list, UINT64_MAX));
	number_list_clear(&list);
}

TEST(numbers)
{
	u64 number = 7;

	assert_int_equal(number_parse("0x10", false, &number), 0);
	assert_int_equal(number, 16);
	assert_int_equal(number_parse("010", false, &number), 0);
	assert_int_equal(number, 10);
	assert_int_equal(number_parse("3k", true, &number), 0);
	assert_int_equal(number, 3072);
	assert_int_equal(number_parse("18446744073709551615", false, &number), 0);
	assert_true(number == UINT64_MAX);
	assert_int_equal(number_parse("18446744073709551616", false, &number), -ERANGE);
	assert_int_equal(number_parse("17179869184G", true, &number), -ERANGE);
}

TEST(not_numbers)
{
	static const char *const words[] = {"",	  "-1", "+1", " 1", "1 ", "1K",
					    "1x", "K",	"0x", "x",  "1.5"};
	u64 number = 7;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_int_equal(number_parse(words[i], false, &number), -EINVAL);
	assert_int_equal(number_parse("1KB", true, &number), -EINVAL);
	assert_int_equal(number_parse("1T", true, &number), -EINVAL);
	assert_int_equal(number, 7);
}
