/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whole walks by frame pointers, through memory that is both stack and code. */
#include "unwind/cached_rule.h"
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

#define WORDS 8192
#define WORD(i) (MEMORY_BASE + 8 * (u64)(i))

static struct unwind unwind;
static u64 memory[WORDS];

/* Makes a chain of `depth` frames of two words from word 1000 on. All pcs but the outermost one lie
 * behind calls of functions elsewhere. */
static void make_frame_pointer_chain(u32 depth)
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

TEST(a_chain_is_walked_to_its_root)
{
	make_frame_pointer_chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_int_equal(unwind.frame[0], WORD(5));
	for (u32 i = 1; i <= 20; i++)
		assert_int_equal(unwind.frame[i], WORD(10) + i - 1);
}

TEST(depth_is_limited)
{
	make_frame_pointer_chain(2000);
	assert_int_equal(unwind_stack(&unwind, 5), 5);
	assert_int_equal(unwind.stop, STOP_DEPTH);
	make_frame_pointer_chain(2000);
	assert_int_equal(unwind_stack(&unwind, 600), STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_DEPTH);
	assert_int_equal(unwind.frame[256], FRAME_OMITTED(90));
	make_frame_pointer_chain(450);
	assert_int_equal(unwind_stack(&unwind, 100000), 451);
	assert_int_equal(unwind.stop, STOP_ROOT);
	make_frame_pointer_chain(20);
	assert_int_equal(unwind_stack(&unwind, 21), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
}

TEST(work_is_limited)
{
	make_frame_pointer_chain(500);
	unwind.budget = 100;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_BUDGET);
	assert_int_equal(unwind.budget, 0);
	assert_true(unwind.depth < 100);
}

/* Each word of the chain, and the code, becomes available only after a wait. */
TEST(absent_pages_do_not_change_the_stack)
{
	u32 budget;

	memory_block = 8;
	make_frame_pointer_chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	assert_int_equal(unwind.stop, STOP_ROOT);
	for (u32 i = 1; i <= 20; i++)
		assert_int_equal(unwind.frame[i], WORD(10) + i - 1);
	assert_in_range(memory_waits, 2 * 20, 5 * 20);
	budget = unwind.budget;
	memory_block = 0;
	make_frame_pointer_chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(unwind.budget > budget);
}

/* A read meets one absent byte after the other. */
TEST(waiting_is_limited)
{
	memory_block = 1;
	make_frame_pointer_chain(500);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_BUDGET);
	assert_in_range(unwind.depth, 40, 100);
	assert_int_equal(memory_waits, UNWIND_REFILLS_MAX);
	memory_block = 0;
}

TEST(a_chain_that_turns_back_ends)
{
	make_frame_pointer_chain(20);
	memory[1010] = WORD(1000);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.depth, 7);
	assert_int_equal(unwind.stop, STOP_NO_RULE);
}

TEST(a_leaf_outside_of_code_counts)
{
	make_frame_pointer_chain(3);
	unwind.registers.value[REGISTER_RIP] = 16;
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 1);
	assert_int_equal(unwind.stop, STOP_NOT_CODE);
	assert_int_equal(unwind.frame[0], 16);
}

/* A return address outside of code shows that the guess before it was wrong. */
TEST(a_guess_to_no_code_is_dropped)
{
	make_frame_pointer_chain(5);
	memory[1003] = 0x1234;
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 2);
	assert_int_equal(unwind.stop, STOP_NO_RULE);
}

/* Opens an empty cache of rules, for code of a file without tables. */
static struct rule_cache *cache_open(void)
{
	static struct rule_cache cache;

	memset(&cache, 0, sizeof(cache));
	memory_rules = &cache;
	memory_image = MEMORY_BASE;
	return &cache;
}

static bool find_cached_rule_of_pc(u64 pc, bool interrupted, struct unwind_rule *rule)
{
	struct rule_key key = {.place =
				       MEMORY_FRAME(pc) | (interrupted ? RULE_KEY_INTERRUPTED : 0)};

	return rule_cache_get(memory_rules, &key, rule);
}

/* The same for rules made from code, which a table of the whole file overrules. */
static bool find_cached_rule_made_from_code(u64 pc, bool interrupted, struct unwind_rule *rule)
{
	struct rule_key key = {.place =
				       MEMORY_FRAME(pc) | (interrupted ? RULE_KEY_INTERRUPTED : 0)};

	key = rule_key_by_code(&key);
	return rule_cache_get_exact(memory_rules, &key, rule);
}

/* The same rule is found again without work. */
TEST(steps_are_cached)
{
	u32 budget;

	cache_open();
	make_frame_pointer_chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	budget = unwind.budget;
	make_frame_pointer_chain(20);
	assert_int_equal(unwind_stack(&unwind, STACK_USER_DEPTH_MAX), 21);
	/* In a file without a table the calls of other functions prove no frame pointer. */
	assert_int_equal(unwind.stop, STOP_GUESSED);
	assert_true(unwind.budget > budget);
	memory_rules = NULL;
	memory_image = 0;
}

/* The key is the address, and whether the frame made a call. */
TEST(rules_of_a_files_code_are_cached)
{
	struct unwind_rule rule;

	cache_open();
	make_frame_pointer_chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(find_cached_rule_made_from_code(WORD(5), true, &rule));
	assert_false(find_cached_rule_made_from_code(WORD(5), false, &rule));
	assert_true(find_cached_rule_made_from_code(WORD(10), false, &rule));
	assert_false(find_cached_rule_of_pc(WORD(5), true, &rule));
	memory_rules = NULL;
	memory_image = 0;
}

/* The cache may know that no table covers the code: the code is then read at once. */
TEST(code_without_tables_is_read)
{
	const struct unwind_rule by_code = {.cfa_kind = CFA_BY_CODE};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(5)) | RULE_KEY_INTERRUPTED};
	struct unwind_rule rule;
	u32 spent;

	make_frame_pointer_chain(1);
	memory_image = MEMORY_BASE;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.frame[1], WORD(10));
	spent = unwind.budget;
	cache_open();
	make_frame_pointer_chain(1);
	rule_cache_put(memory_rules, &key, &by_code);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.frame[1], WORD(10));
	assert_true(unwind.budget > spent);
	assert_true(find_cached_rule_of_pc(WORD(5), true, &rule));
	assert_int_equal(rule.cfa_kind, CFA_BY_CODE); /* memory may differ from the file */
	memory_rules = NULL;
	memory_image = 0;
}

/* The address may have other code the next time. */
TEST(rules_of_generated_code_are_not_cached)
{
	static const struct rule_cache empty;

	cache_open();
	memory_image = 0;
	make_frame_pointer_chain(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_memory_equal(memory_rules, &empty, sizeof(empty));
	memory_rules = NULL;
	memory_image = 0;
}

/* A search that runs out of budget finds less than a complete one. */
TEST(results_of_an_exhausted_budget_are_not_cached)
{
	struct unwind_rule whole, rule;
	u32 kept = 0;

	cache_open();
	make_frame_pointer_chain(3);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_true(find_cached_rule_made_from_code(WORD(5), true, &whole));
	cache_open();
	for (u32 budget = 0; budget < 12; budget++) {
		make_frame_pointer_chain(3);
		unwind.budget = budget;
		unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
		if (!find_cached_rule_made_from_code(WORD(5), true, &rule))
			continue;
		kept++;
		assert_memory_equal(&rule, &whole, sizeof(rule));
	}
	assert_in_range(kept, 1, 11);
	memory_rules = NULL;
	memory_image = 0;
}

/* Another process may have the tables. */
TEST(files_with_absent_tables_are_not_cached)
{
	struct unwind_rule rule;

	make_frame_pointer_chain(3);
	cache_open();
	memory_image = MEMORY_IMAGE_LOST;
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_false(find_cached_rule_of_pc(WORD(5), true, &rule));
	assert_false(find_cached_rule_made_from_code(WORD(5), true, &rule));
	memory_rules = NULL;
	memory_image = 0;
}

TEST(rules_of_32_bit_tasks_are_not_cached)
{
	static const struct rule_cache empty;

	make_frame_pointer_chain(3);
	unwind.is_compat = true;
	assert_memory_equal(cache_open(), &empty, sizeof(empty));
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_memory_equal(memory_rules, &empty, sizeof(empty));
	memory_rules = NULL;
	memory_image = 0;
}
