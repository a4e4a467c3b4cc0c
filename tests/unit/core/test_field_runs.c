/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs of two programs at one tracepoint, in every order that is possible on one CPU. */
#include "field_runs.h"

#include "unit_test.h"

/* f: the first program runs, s: the second one; "fs" is a hit that both see. */
static struct field_runs field_runs_after_sequence(const char *runs)
{
	struct field_runs state = {0};

	for (; *runs; runs++)
		if (*runs == 'f')
			field_runs_count_first_program(&state);
		else if (!field_runs_take_run_of_first(&state))
			field_runs_count_skip(&state);
	return state;
}

static void check(const char *runs, u64 skipped, u64 unsure, s64 ahead)
{
	struct field_runs state = field_runs_after_sequence(runs);

	assert_int_equal(state.skipped, skipped);
	assert_int_equal(state.unsure, unsure);
	assert_int_equal((s64)state.ahead, ahead);
}

TEST(hits_of_both_programs_are_no_loss)
{
	check("", 0, 0, 0);
	check("fs", 0, 0, 0);
	check("fsfsfs", 0, 0, 0);
	check("fsffsffsss", 0, 0, 0);
}

TEST(a_hit_of_the_second_program_alone_is_a_skip)
{
	check("fss", 0, 1, 0);
	check("fssfs", 1, 0, 0);
	check("fssssfs", 3, 0, 0);
	check("fssfssfs", 2, 0, 0);
}

TEST(the_first_hit_may_be_of_one_program)
{
	check("s", 0, 1, 0);
	check("sfs", 1, 0, 0);
}

/* Hits between the two attachments run only the first program. */
TEST(runs_before_the_second_attachment_hide_no_skip)
{
	check("fffs", 0, 0, 0);
	check("fffssfs", 1, 0, 0);
}

/* An interrupt between the two runs: its first program is skipped, as the interrupted program has
 * not ended. */
TEST(a_skip_in_an_interrupt_is_counted)
{
	check("fsfssfs", 1, 0, 0);
}

/* The interrupt hits while the second program runs: the kernel does not run a program inside
 * itself. */
TEST(a_miss_of_the_second_program_keeps_the_first_hit)
{
	check("fsfsf", 0, 0, 1);
	check("fsfsffs", 0, 0, 1);
}
