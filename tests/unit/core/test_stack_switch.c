/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which steps from one stack to another are allowed, and which are not. */
#include "stack_switch.h"

/* cmocka needs these three before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define THREAD 0x7fff00000000ULL /* a stack, as all of these a long way from the others */
#define HEAP 0x555500000000ULL
#define OTHER_HEAP 0x555600000000ULL

static struct stack_switches begin(u64 rsp)
{
	return (struct stack_switches){.entered = rsp};
}

static void a_step_further_out_on_one_stack_is_near(void **state)
{
	(void)state;
	assert_false(stack_switch_is_far(THREAD, THREAD + 8));
	assert_false(stack_switch_is_far(THREAD, THREAD + 65536));
	assert_true(stack_switch_is_far(THREAD, THREAD + 65537));
	assert_true(stack_switch_is_far(THREAD, THREAD));
	assert_true(stack_switch_is_far(THREAD, THREAD - 8));
}

static void a_step_into_dead_frames_is_refused(void **state)
{
	struct stack_switches switches = begin(THREAD);

	(void)state;
	assert_false(stack_switch(&switches, THREAD + 1000, THREAD + 992, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, THREAD + 1000, THREAD, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, THREAD + 1000, THREAD - 65535, STACK_SWITCH_BYTES));
	assert_int_equal(switches.count, 0);
	assert_true(stack_switch(&switches, THREAD + 1000, THREAD - 65536, STACK_SWITCH_BYTES));
}

static void a_stack_that_is_known_may_be_near(void **state)
{
	struct stack_switches switches = begin(THREAD);

	(void)state;
	assert_false(stack_switch(&switches, THREAD + 1000, THREAD + 1000, STACK_SWITCH_WORD));
	assert_false(stack_switch(&switches, THREAD + 1000, THREAD, STACK_SWITCH_WORD));
	assert_true(stack_switch(&switches, THREAD + 1000, THREAD - 8, STACK_SWITCH_WORD));
}

static void each_stack_is_left_once(void **state)
{
	struct stack_switches switches = begin(THREAD);

	(void)state;
	assert_true(stack_switch(&switches, THREAD + 1000, HEAP, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, HEAP + 500, THREAD, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, HEAP + 500, THREAD + 1000, STACK_SWITCH_BYTES));
	assert_true(stack_switch(&switches, HEAP + 500, THREAD + 1008, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, THREAD + 2000, HEAP + 100, STACK_SWITCH_BYTES));
	assert_true(stack_switch(&switches, THREAD + 2000, OTHER_HEAP, STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, OTHER_HEAP + 8, HEAP, STACK_SWITCH_BYTES));
}

static void a_walk_goes_down_at_most_eight_times(void **state)
{
	struct stack_switches switches = begin(THREAD);
	u64 rsp = THREAD;

	(void)state;
	for (u32 i = 0; i < STACK_SWITCHES_MAX; i++, rsp -= 1 << 20)
		assert_true(stack_switch(&switches, rsp, rsp - (1 << 20), STACK_SWITCH_BYTES));
	assert_false(stack_switch(&switches, rsp, rsp - (1 << 20), STACK_SWITCH_BYTES));
	assert_true(stack_switch(&switches, rsp, THREAD + (1 << 20), STACK_SWITCH_BYTES));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_further_out_on_one_stack_is_near),
		cmocka_unit_test(a_step_into_dead_frames_is_refused),
		cmocka_unit_test(a_stack_that_is_known_may_be_near),
		cmocka_unit_test(each_stack_is_left_once),
		cmocka_unit_test(a_walk_goes_down_at_most_eight_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
