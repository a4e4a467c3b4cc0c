/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of two programs at one tracepoint, in every order that one CPU can have. */
#include "field_runs.h"

#include "unit_test.h"

/* cmocka needs these three before it. */

/* f: the first runs, s: the second; as in "fs", a hit that both see. */
static struct field_runs after(const char *runs)
{
	struct field_runs state = {0};

	for (; *runs; runs++)
		if (*runs == 'f')
			field_runs_first(&state);
		else if (!field_runs_take(&state))
			field_runs_skipped(&state);
	return state;
}

static void check(const char *runs, u64 skipped, u64 unsure, s64 ahead)
{
	struct field_runs state = after(runs);

	assert_int_equal(state.skipped, skipped);
	assert_int_equal(state.unsure, unsure);
	assert_int_equal((s64)state.ahead, ahead);
}

TEST(pairs_are_no_loss)
{
	check("", 0, 0, 0);
	check("fs", 0, 0, 0);
	check("fsfsfs", 0, 0, 0);
	check("fsffsffsss", 0, 0, 0);
}

TEST(a_second_alone_is_a_skip)
{
	check("fss", 0, 1, 0);
	check("fssfs", 1, 0, 0);
	check("fssssfs", 3, 0, 0);
	check("fssfssfs", 2, 0, 0);
}

TEST(the_first_hit_may_be_one)
{
	check("s", 0, 1, 0);
	check("sfs", 1, 0, 0);
}

/* Between the two attachments. */
TEST(runs_before_the_second_came_hide_nothing)
{
	check("fffs", 0, 0, 0);
	check("fffssfs", 1, 0, 0);
}

/* An interrupt between the two, whose first program is skipped as the other's has not ended. */
TEST(an_interrupts_skip_is_one)
{
	check("fsfssfs", 1, 0, 0);
}

/* One that hits the second program: the kernel does not run it twice. */
TEST(a_miss_of_the_second_leaves_its_partner)
{
	check("fsfsf", 0, 0, 1);
	check("fsfsffs", 0, 0, 1);
}

/* As the program does: on its own CPU, or else on the other one. */
static void second_on(struct field_runs *own, struct field_runs *other)
{
	if (!field_runs_take(own) && !field_runs_take_surplus(other))
		field_runs_skipped(own);
}

/* Each CPU has had a pair. */
static void follow(struct field_runs cpus[2])
{
	for (u32 cpu = 0; cpu < 2; cpu++) {
		cpus[cpu] = (struct field_runs){0};
		field_runs_first(&cpus[cpu]);
		second_on(&cpus[cpu], &cpus[!cpu]);
	}
}

static void check_sum(const struct field_runs cpus[2], u64 skips, s64 ahead)
{
	assert_int_equal(cpus[0].skipped + cpus[0].unsure + cpus[1].skipped + cpus[1].unsure,
			 skips);
	assert_int_equal((s64)(cpus[0].ahead + cpus[1].ahead), ahead);
}

TEST(a_pair_that_changes_its_cpu_is_no_skip)
{
	struct field_runs cpus[2];

	follow(cpus);
	field_runs_first(&cpus[0]);
	second_on(&cpus[1], &cpus[0]);
	check_sum(cpus, 0, 0);
}

/* It takes the run of a pair that is not complete: the second of that pair counts the skip. */
TEST(a_skip_beside_an_open_pair_is_one_skip)
{
	struct field_runs cpus[2];

	follow(cpus);
	field_runs_first(&cpus[0]);
	second_on(&cpus[1], &cpus[0]);
	second_on(&cpus[0], &cpus[1]);
	check_sum(cpus, 1, 0);
}

TEST(runs_before_the_second_came_are_left_to_their_cpu)
{
	struct field_runs cpus[2] = {};

	field_runs_first(&cpus[0]);
	field_runs_first(&cpus[0]);
	second_on(&cpus[1], &cpus[0]);
	check_sum(cpus, 1, 2);
}
