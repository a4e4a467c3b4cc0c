/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps from one stack to another that are allowed, and steps that are refused. */
#include "stack_switch.h"

#include "unit_test.h"

#define THREAD 0x7fff00000000ULL /* the stack of a thread; all stacks here are far apart */
#define HEAP 0x555500000000ULL
#define OTHER_HEAP 0x555600000000ULL

static struct stack_switches begin(u64 rsp)
{
	return (struct stack_switches){.entered = rsp};
}

TEST(a_step_further_out_on_one_stack_is_near)
{
	assert_false(is_step_to_other_stack(THREAD, THREAD + 8));
	assert_false(is_step_to_other_stack(THREAD, THREAD + 65536));
	assert_true(is_step_to_other_stack(THREAD, THREAD + 65537));
	assert_true(is_step_to_other_stack(THREAD, THREAD));
	assert_true(is_step_to_other_stack(THREAD, THREAD - 8));
}

TEST(a_step_into_dead_frames_is_refused)
{
	struct stack_switches switches = begin(THREAD);

	assert_false(
		check_stack_switch(&switches, THREAD + 1000, THREAD + 992, STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, THREAD + 1000, THREAD, STACK_SWITCH_BYTES));
	assert_false(
		check_stack_switch(&switches, THREAD + 1000, THREAD - 65535, STACK_SWITCH_BYTES));
	assert_int_equal(switches.count, 0);
	assert_true(
		check_stack_switch(&switches, THREAD + 1000, THREAD - 65536, STACK_SWITCH_BYTES));
}

TEST(a_stack_that_is_known_may_be_near)
{
	struct stack_switches switches = begin(THREAD);

	assert_false(
		check_stack_switch(&switches, THREAD + 1000, THREAD + 1000, STACK_SWITCH_WORD));
	assert_false(check_stack_switch(&switches, THREAD + 1000, THREAD, STACK_SWITCH_WORD));
	assert_true(check_stack_switch(&switches, THREAD + 1000, THREAD - 8, STACK_SWITCH_WORD));
}

TEST(each_stack_is_left_once)
{
	struct stack_switches switches = begin(THREAD);

	assert_true(check_stack_switch(&switches, THREAD + 1000, HEAP, STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, HEAP + 500, THREAD, STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, HEAP + 500, THREAD + 1000, STACK_SWITCH_BYTES));
	assert_true(check_stack_switch(&switches, HEAP + 500, THREAD + 1008, STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, THREAD + 2000, HEAP + 100, STACK_SWITCH_BYTES));
	assert_true(check_stack_switch(&switches, THREAD + 2000, OTHER_HEAP, STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, OTHER_HEAP + 8, HEAP, STACK_SWITCH_BYTES));
}

TEST(a_walk_goes_down_at_most_eight_times)
{
	struct stack_switches switches = begin(THREAD);
	u64 rsp = THREAD;

	for (u32 i = 0; i < STACK_SWITCHES_MAX; i++, rsp -= 1 << 20)
		assert_true(
			check_stack_switch(&switches, rsp, rsp - (1 << 20), STACK_SWITCH_BYTES));
	assert_false(check_stack_switch(&switches, rsp, rsp - (1 << 20), STACK_SWITCH_BYTES));
	assert_true(check_stack_switch(&switches, rsp, THREAD + (1 << 20), STACK_SWITCH_BYTES));
}
