/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unit_test.h"

#include <stdlib.h>

#define TESTS_MAX 128

static struct CMUnitTest tests[TESTS_MAX]; /* cmocka skips entries without a name */
static size_t count;
static CMFixtureFunction group_setup, group_teardown;

void unit_test_add(const struct CMUnitTest *test)
{
	if (count == TESTS_MAX)
		abort();
	tests[count++] = *test;
}

void unit_test_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	group_setup = setup;
	group_teardown = teardown;
}

int unit_tests_run(void)
{
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
