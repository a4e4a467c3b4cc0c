/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole walks, by frame pointers, through memory that is stack and code at once. */
#include "unwind_memory.h"

/* cmocka needs these three before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#define WORDS 8192
#define WORD(i) (MEMORY_BASE + 8 * (u64)(i))

static struct unwind unwind;
static u64 memory[WORDS];

/* A chain of `depth` frames of two words from word 1000 on; pcs are words of zeroes, no known code.
 */
static void chain(u32 depth)
{
	memset(memory, 0, sizeof(memory));
	for (u32 i = 0; i < depth; i++) {
		memory[1000 + 2 * i] = i + 1 < depth ? WORD(1000 + 2 * (i + 1)) : 0;
		memory[1001 + 2 * i] = WORD(10) + i;
	}
	memory_set(&unwind, memory, sizeof(memory));
	unwind.registers.value[REGISTER_RIP] = WORD(5);
	unwind.registers.value[REGISTER_RSP] = WORD(999);
	unwind.registers.value[REGISTER_RBP] = WORD(1000);
}

static void a_chain_is_walked_to_its_root(void **state)
{
	(void)state;
	chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_int_equal(unwind.frame[0], WORD(5));
	for (u32 i = 1; i <= 20; i++)
		assert_int_equal(unwind.frame[i], WORD(10) + i - 1);
}

static void depth_is_limited(void **state)
{
	(void)state;
	chain(2000);
	assert_int_equal(unwind_stack(&unwind, 5), 5);
	assert_int_equal(unwind.stop, STOP_DEPTH);
	chain(2000);
	assert_int_equal(unwind_stack(&unwind, 100000), STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_DEPTH);
	chain(20);
	assert_int_equal(unwind_stack(&unwind, 21), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
}

static void work_is_limited(void **state)
{
	(void)state;
	chain(500);
	unwind.budget = 100;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_BUDGET);
	assert_int_equal(unwind.budget, 0);
	assert_true(unwind.depth < 100);
}

static void a_chain_that_turns_back_ends(void **state)
{
	(void)state;
	chain(20);
	memory[1010] = WORD(1000);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.depth, 7);
	assert_int_equal(unwind.stop, STOP_NO_RULE);
}

static void a_leaf_outside_of_code_counts(void **state)
{
	(void)state;
	chain(3);
	unwind.registers.value[REGISTER_RIP] = 16;
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 1);
	assert_int_equal(unwind.stop, STOP_NOT_CODE);
	assert_int_equal(unwind.frame[0], 16);
}

/* A return address that is no code makes the guess that found it wrong. */
static void a_guess_is_not_believed(void **state)
{
	(void)state;
	chain(5);
	memory[1003] = 0x1234;
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 2);
	assert_int_equal(unwind.stop, STOP_NO_RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_walked_to_its_root),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(work_is_limited),
		cmocka_unit_test(a_chain_that_turns_back_ends),
		cmocka_unit_test(a_leaf_outside_of_code_counts),
		cmocka_unit_test(a_guess_is_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
