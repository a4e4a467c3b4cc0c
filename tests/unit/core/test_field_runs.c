/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of two programs at one tracepoint, in every order that one CPU can have. */
#include "field_runs.h"

/* cmocka needs these three before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* f: the first runs, s: the second; as in "fs", a hit that both see. */
static struct field_runs after(const char *runs)
{
	struct field_runs state = {0};

	for (; *runs; runs++)
		if (*runs == 'f')
			field_runs_first(&state);
		else
			field_runs_second(&state);
	return state;
}

static void check(const char *runs, u64 skipped, u64 unsure, s64 ahead)
{
	struct field_runs state = after(runs);

	assert_int_equal(state.skipped, skipped);
	assert_int_equal(state.unsure, unsure);
	assert_int_equal((s64)state.ahead, ahead);
}

static void pairs_are_no_loss(void **state)
{
	(void)state;
	check("", 0, 0, 0);
	check("fs", 0, 0, 0);
	check("fsfsfs", 0, 0, 0);
	check("fsffsffsss", 0, 0, 0);
}

static void a_second_alone_is_a_skip(void **state)
{
	(void)state;
	check("fss", 0, 1, 0);
	check("fssfs", 1, 0, 0);
	check("fssssfs", 3, 0, 0);
	check("fssfssfs", 2, 0, 0);
}

static void the_first_hit_may_be_one(void **state)
{
	(void)state;
	check("s", 0, 1, 0);
	check("sfs", 1, 0, 0);
}

/* Between the two attachments. */
static void runs_before_the_second_came_hide_nothing(void **state)
{
	(void)state;
	check("fffs", 0, 0, 0);
	check("fffssfs", 1, 0, 0);
}

/* An interrupt between the two, whose first program is skipped as the other's has not ended. */
static void an_interrupts_skip_is_one(void **state)
{
	(void)state;
	check("fsfssfs", 1, 0, 0);
}

/* One that hits the second program: the kernel does not run it twice. */
static void a_miss_of_the_second_leaves_its_partner(void **state)
{
	(void)state;
	check("fsfsf", 0, 0, 1);
	check("fsfsffs", 0, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_are_no_loss),
		cmocka_unit_test(a_second_alone_is_a_skip),
		cmocka_unit_test(the_first_hit_may_be_one),
		cmocka_unit_test(runs_before_the_second_came_hide_nothing),
		cmocka_unit_test(an_interrupts_skip_is_one),
		cmocka_unit_test(a_miss_of_the_second_leaves_its_partner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
