/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of CPUs as people and the kernel write them, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "option/cpu_list.h"

#define WORDS (CONFIG_CPUS_MAX / 64)

static u64 mask[WORDS];

static int parse(const char *text)
{
	memset(mask, 0, sizeof(mask));
	return cpu_list_parse(text, mask);
}

static void assert_cpus(const char *text, const u32 *cpus, size_t count)
{
	u64 wanted[WORDS] = {0};

	for (size_t i = 0; i < count; i++)
		wanted[cpus[i] / 64] |= 1ULL << (cpus[i] % 64);
	assert_int_equal(parse(text), 0);
	assert_memory_equal(mask, wanted, sizeof(mask));
}

#define ASSERT_CPUS(text, ...)                                                                     \
	assert_cpus(text, (const u32[]){__VA_ARGS__},                                              \
		    sizeof((const u32[]){__VA_ARGS__}) / sizeof(u32))

static void test_lists(void **state)
{
	(void)state;
	ASSERT_CPUS("0", 0);
	ASSERT_CPUS("0-3,8", 0, 1, 2, 3, 8);
	ASSERT_CPUS("8,0-3", 0, 1, 2, 3, 8);
	ASSERT_CPUS("5-5", 5);
	ASSERT_CPUS("2,2,1-2", 1, 2);
	ASSERT_CPUS("63-65", 63, 64, 65);
	ASSERT_CPUS("1023", 1023);
}

static void test_all_cpus(void **state)
{
	(void)state;
	assert_int_equal(parse("0-1023"), 0);
	for (u32 i = 0; i < WORDS; i++)
		assert_true(mask[i] == UINT64_MAX);
}

static void test_not_a_list(void **state)
{
	static const char *const wrong[] = {"",	   ",",	    "x",   "1,", ",1", "1,,2", "1-",  "-1",
					    "3-1", "1-2-3", "1 2", " 1", "1x", "0x1",  "1;2", "+1"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(parse(wrong[i]), -EINVAL);
}

static void test_cpus_that_cannot_be(void **state)
{
	(void)state;
	assert_int_equal(parse("1024"), -ERANGE);
	assert_int_equal(parse("0-1024"), -ERANGE);
	assert_int_equal(parse("4294967296"), -ERANGE);
	assert_int_equal(parse("99999999999999999999999"), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_all_cpus),
		cmocka_unit_test(test_not_a_list),
		cmocka_unit_test(test_cpus_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
