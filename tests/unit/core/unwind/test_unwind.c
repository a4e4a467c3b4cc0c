/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole walks, by frame pointers, through memory that is stack and code at once. */
#include "unwind/cached_rule.h"
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

/* A chain of `depth` frames of two words from word 1000 on; pcs are bytes behind calls of functions
 * elsewhere, but for the outermost one, which no call has left. */
static void chain(u32 depth)
{
	memset(memory, 0, sizeof(memory));
	for (u32 i = 0; i < depth; i++) {
		memory[1000 + 2 * i] = i + 1 < depth ? WORD(1000 + 2 * (i + 1)) : 0;
		memory[1001 + 2 * i] = WORD(10) + i;
	}
	memset((u8 *)memory + 8 * 10 - 5, 0xe8, depth - 1);
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
	assert_int_equal(unwind_stack(&unwind, 600), STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_DEPTH);
	assert_int_equal(unwind.frame[256], FRAME_OMITTED(90));
	chain(450);
	assert_int_equal(unwind_stack(&unwind, 100000), 451);
	assert_int_equal(unwind.stop, STOP_ROOT);
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

/* Each word of the chain has to be waited for, and all of the code. */
static void what_was_not_there_changes_nothing(void **state)
{
	u32 budget;

	(void)state;
	memory_block = 8;
	chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
	for (u32 i = 1; i <= 20; i++)
		assert_int_equal(unwind.frame[i], WORD(10) + i - 1);
	assert_in_range(memory_waits, 2 * 20, 5 * 20);
	budget = unwind.budget;
	memory_block = 0;
	chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(unwind.budget > budget);
}

/* A read that misses byte after byte. */
static void waiting_is_limited(void **state)
{
	(void)state;
	memory_block = 1;
	chain(500);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_BUDGET);
	assert_in_range(unwind.depth, 40, 100);
	assert_int_equal(memory_waits, UNWIND_REFILLS_MAX);
	memory_block = 0;
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

/* With a cache of rules, as of now empty, and code of a file without tables. */
static struct rule_cache *cache_open(void)
{
	static struct rule_cache cache;

	memset(&cache, 0, sizeof(cache));
	memory_rules = &cache;
	memory_image = MEMORY_BASE;
	return &cache;
}

static bool cached(u64 pc, bool interrupted, struct unwind_rule *rule)
{
	struct rule_key key = {.place =
				       MEMORY_FRAME(pc) | (interrupted ? RULE_KEY_INTERRUPTED : 0)};

	return rule_cache_get(memory_rules, &key, rule);
}

/* The same of what was made from code: a table of the whole file counts more. */
static bool made_from_code(u64 pc, bool interrupted, struct unwind_rule *rule)
{
	struct rule_key key = {.place =
				       MEMORY_FRAME(pc) | (interrupted ? RULE_KEY_INTERRUPTED : 0)};

	key = rule_key_by_code(&key);
	return rule_cache_get_exact(memory_rules, &key, rule);
}

/* The same rule is made again, and for free. */
static void steps_are_remembered(void **state)
{
	u32 budget;

	(void)state;
	cache_open();
	chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	budget = unwind.budget;
	chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_true(unwind.budget > budget);
	memory_rules = NULL;
	memory_image = 0;
}

/* By its place, and by whether it made a call. */
static void code_of_a_file_is_remembered(void **state)
{
	struct unwind_rule rule;

	(void)state;
	cache_open();
	chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(made_from_code(WORD(5), true, &rule));
	assert_false(made_from_code(WORD(5), false, &rule));
	assert_true(made_from_code(WORD(10), false, &rule));
	assert_false(cached(WORD(5), true, &rule));
	memory_rules = NULL;
	memory_image = 0;
}

/* Of code that no table covers the cache may know that: it is read at once. */
static void code_without_tables_is_read(void **state)
{
	const struct unwind_rule by_code = {.cfa_kind = CFA_BY_CODE};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(5)) | RULE_KEY_INTERRUPTED};
	struct unwind_rule rule;
	u32 spent;

	(void)state;
	chain(1);
	memory_image = MEMORY_BASE;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.frame[1], WORD(10));
	spent = unwind.budget;
	cache_open();
	chain(1);
	rule_cache_put(memory_rules, &key, &by_code);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.frame[1], WORD(10));
	assert_true(unwind.budget > spent);
	assert_true(cached(WORD(5), true, &rule));
	assert_int_equal(rule.cfa_kind, CFA_BY_CODE); /* what was read may not be the file's */
	memory_rules = NULL;
	memory_image = 0;
}

/* It may be other code the next time. */
static void generated_code_is_not_remembered(void **state)
{
	static const struct rule_cache empty;

	(void)state;
	cache_open();
	memory_image = 0;
	chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_memory_equal(memory_rules, &empty, sizeof(empty));
	memory_rules = NULL;
	memory_image = 0;
}

/* A budget that ends within the search makes it find less than there is. */
static void what_was_cut_short_is_not_remembered(void **state)
{
	struct unwind_rule whole, rule;
	u32 kept = 0;

	(void)state;
	cache_open();
	chain(3);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(made_from_code(WORD(5), true, &whole));
	cache_open();
	for (u32 budget = 0; budget < 12; budget++) {
		chain(3);
		unwind.budget = budget;
		unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
		if (!made_from_code(WORD(5), true, &rule))
			continue;
		kept++;
		assert_memory_equal(&rule, &whole, sizeof(rule));
	}
	assert_in_range(kept, 1, 11);
	memory_rules = NULL;
	memory_image = 0;
}

/* Another process may know them. */
static void files_without_their_tables_are_not_remembered(void **state)
{
	struct unwind_rule rule;

	(void)state;
	chain(3);
	cache_open();
	memory_image = MEMORY_IMAGE_LOST;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_false(cached(WORD(5), true, &rule));
	assert_false(made_from_code(WORD(5), true, &rule));
	memory_rules = NULL;
	memory_image = 0;
}

static void tasks_of_32_bits_are_not_remembered(void **state)
{
	static const struct rule_cache empty;

	(void)state;
	chain(3);
	unwind.is_compat = true;
	assert_memory_equal(cache_open(), &empty, sizeof(empty));
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_memory_equal(memory_rules, &empty, sizeof(empty));
	memory_rules = NULL;
	memory_image = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_walked_to_its_root),
		cmocka_unit_test(depth_is_limited),
		cmocka_unit_test(work_is_limited),
		cmocka_unit_test(what_was_not_there_changes_nothing),
		cmocka_unit_test(waiting_is_limited),
		cmocka_unit_test(a_chain_that_turns_back_ends),
		cmocka_unit_test(a_leaf_outside_of_code_counts),
		cmocka_unit_test(a_guess_is_not_believed),
		cmocka_unit_test(steps_are_remembered),
		cmocka_unit_test(code_of_a_file_is_remembered),
		cmocka_unit_test(code_without_tables_is_read),
		cmocka_unit_test(generated_code_is_not_remembered),
		cmocka_unit_test(what_was_cut_short_is_not_remembered),
		cmocka_unit_test(files_without_their_tables_are_not_remembered),
		cmocka_unit_test(tasks_of_32_bits_are_not_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
