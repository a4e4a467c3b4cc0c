/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources of the direct walk's steps: cached steps, cached rules of all processes and of one
 * address space, rules made from code, and the tables of whole files. And the ends of a walk.
 */
#include "walked_memory.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

/* A stack of one frame below the root. */
static void make_stack_of_one_frame(void)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	struct unwind_rule rule = {.cfa_register = REGISTER_RSP,
				   .cfa_offset = 16,
				   .base = RULE_BASE_CFA,
				   .slot = {[SLOT_RETURN] = 1}};

	memset(memory, 0, sizeof(memory));
	memset(&rules, 0, sizeof(rules));
	memset(&steps, 0, sizeof(steps));
	memset(&walk, 0, sizeof(walk));
	memory_set(&builder, memory, sizeof(memory));
	memory_set(&unwind, memory, sizeof(memory));
	memory[1001] = WORD(20);
	walk.registers.known = builder.registers.known;
	walk.registers.value[REGISTER_RIP] = WORD(10);
	walk.registers.value[REGISTER_RSP] = WORD(1000);
	walk.max_depth = STACK_USER_DEPTH_MAX;
	walk.slot = 0;
	builder.registers = walk.registers;
	rule_keep(&rule);
	builder.registers.value[REGISTER_RIP] = WORD(20);
	builder.is_interrupted = false;
	rule_keep(&outermost);
	is_generated_code = false;
}

static u32 walk_again(void)
{
	walk.registers.known = (1U << REGISTER_COUNT) - 1;
	walk.registers.value[REGISTER_RIP] = WORD(10);
	walk.registers.value[REGISTER_RSP] = WORD(1000);
	walk.registers.value[REGISTER_RBP] = WORD(1040);
	direct_walk(&direct);
	return walk.stop;
}

/* A nested walk may interrupt another walk that is about to apply its step. */
TEST(a_walk_without_own_steps_makes_one_step)
{
	static struct step_cache before;

	make_stack_of_one_frame();
	assert_int_equal(walk_again(), STOP_ROOT);
	before = steps;
	walk.slot = 3;
	assert_int_equal(walk_again(), STOP_ROOT);
	for (u32 i = 0; i < STEP_CACHE_KEPT + STEP_CACHE_SLOTS; i++)
		assert_int_equal(
			!memcmp(&steps.entry[i], &before.entry[i], sizeof(before.entry[i])),
			i != STEP_CACHE_KEPT + 3);
}

/* The key of a step is a place in a file, so the step serves all processes and all addresses of the
 * mapping. */
TEST(steps_serve_every_process)
{
	make_stack_of_one_frame();
	walk.search.space =
		(struct address_space){.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	assert_int_equal(walk_again(), STOP_ROOT);
	memset(&rules, 0, sizeof(rules));
	walk.search.space = (struct address_space){.mm = 128, .process = 6, .sequence = 3};
	assert_int_equal(walk_again(), STOP_ROOT);
	file_moved = 8;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	file_moved = 0;
	assert_int_equal(walk_again(), STOP_ROOT);
	walk.slot = 1;
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

/* Code without a file may have other bytes in another process. */
TEST(own_rules_hold_in_their_address_space)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	const struct address_space space = {.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(21))};

	make_stack_of_one_frame();
	walk.search.space = space;
	assert_int_equal(walk_again(), STOP_ROOT);
	memory[1001] = WORD(21);
	assert_int_equal(walk_again(), STOP_NO_RULE);
	key = rule_key_of_address_space(&key, &space);
	rule_cache_put(&rules, &key, &outermost);
	assert_int_equal(walk_again(), STOP_ROOT);
	walk.search.space.process++;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	walk.search.space = space;
	walk.slot = 1;
	is_generated_code = true;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	assert_true(walk.is_final);
}

TEST(a_caller_by_rax_is_found_as_by_the_unwinder)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	const struct unwind_rule rule = {.cfa_register = REGISTER_RAX,
					 .cfa_offset = 8,
					 .base = RULE_BASE_CFA,
					 .slot = {[SLOT_RETURN] = 1}};

	make_stack_of_one_frame();
	rule_keep(&rule);
	builder.registers.value[REGISTER_RIP] = WORD(30);
	rule_keep(&outermost);
	walk.registers.value[REGISTER_RAX] = WORD(1009);
	memory[1009] = WORD(30);
	memory[29] = (u64)(u32)-88 << 32 | 0xe8U << 24; /* a call of word 19 */
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(stack.word[2], MEMORY_FRAME(WORD(30)));
	assert_int_equal(walk.registers.value[REGISTER_RSP], WORD(1010));
	memory[29] = (u64)(u32)-72 << 32 | 0xe8U << 24; /* a call of word 21, behind the pc */
	assert_int_equal(walk_again(), STOP_UNKNOWN_REGISTER);
}

/* The caller's frame ends at word 500, below the stack that begins at word 1000. */
TEST(a_caller_on_another_stack_is_proven_by_its_call)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	struct unwind_rule rule = {.cfa_register = REGISTER_RSP,
				   .cfa_offset = -8 * 500,
				   .base = RULE_BASE_CFA,
				   .flags = RULE_SWITCHED,
				   .slot = {[SLOT_RETURN] = 1}};

	make_stack_of_one_frame();
	builder.registers.value[REGISTER_RIP] = WORD(40);
	builder.is_interrupted = false;
	rule_keep(&outermost);
	builder.registers.value[REGISTER_RIP] = WORD(20);
	rule_keep(&rule);
	memory[501] = WORD(40);
	memory[39] = 0xe8U << 24;
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 3);
	assert_int_equal(stack.word[2], MEMORY_FRAME(WORD(40)));
	assert_int_equal(walk.registers.value[REGISTER_RSP], WORD(502));
	memory[39] = 0; /* no call before the address */
	assert_int_equal(walk_again(), STOP_NO_PROGRESS);
}

/* The scheduler's stack lies below the goroutine's stack; the addresses that lead back are in
 * neither of them. */
TEST(a_goroutine_is_found_as_the_unwinder_finds_it)
{
	const struct unwind_rule rule = {.cfa_kind = CFA_GO_SAVED,
					 .cfa_register = REGISTER_RSP,
					 .operand = 1,
					 .base = RULE_BASE_CFA,
					 .slot = {[GO_SLOT_M] = 1,
						  [GO_SLOT_GOROUTINE] = 2,
						  [GO_SLOT_STACK] = 3,
						  [SLOT_RETURN] = 1}};

	make_stack_of_one_frame();
	builder.registers.value[REGISTER_RIP] = WORD(10);
	builder.is_interrupted = true;
	rule_keep(&rule);
	memory[50] = WORD(60);
	memory[60 + 1] = WORD(70);
	memory[70 + 2] = WORD(80);
	memory[80 + 3] = WORD(400);
	memory[400] = WORD(20);
	memory[19] = 0xe8ULL << 24;
	walk.registers.value[REGISTER_THREAD] = WORD(50);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(20)));
	assert_int_equal(walk.registers.value[REGISTER_RSP], WORD(401));
	assert_int_equal(walk.registers.value[REGISTER_RBP], WORD(1040));
	assert_int_equal(walk.registers.known, 1U << REGISTER_RSP | 1U << REGISTER_RBP);
	memory[19] = 0;
	assert_int_equal(walk_again(), STOP_NO_PROGRESS);
}

/* The rule is made from the bytes of the code each time, as they may change. Zeroes are no known
 * code, so rbp is the frame pointer. */
TEST(generated_code_is_read)
{
	make_stack_of_one_frame();
	is_generated_code = true;
	memory[1000] = WORD(30);
	memory[1041] = WORD(20);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(20)));
	memory[10] = 0xc3; /* ret */
	assert_int_not_equal(walk_again(), STOP_NO_RULE);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(30)));
}

/* Code of a file that its tables do not list is read like generated code when no rule of its
 * address is cached. */
TEST(unlisted_code_of_a_file_is_read)
{
	make_stack_of_one_frame();
	is_code_apart = true;
	memory[1000] = WORD(30);
	memory[1041] = WORD(20);
	memory[10] = 0xc3; /* ret */
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(20)));
	memset(&rules, 0, sizeof(rules));
	memset(&steps, 0, sizeof(steps));
	assert_int_not_equal(walk_again(), STOP_NO_RULE);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(30)));
	is_code_apart = false;
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

/* Writes code that sets up frames and leaves them, and random code. */
static void code_write(u64 from, u32 bytes)
{
	static const u8 known[][4] = {
		{1, 0x55},
		{3, 0x48, 0x89, 0xe5},
		{1, 0x5d},
		{1, 0xc3},
		{2, 0x41, 0x5c},
		{3, 0x48, 0x85, 0xc0},
		{2, 0x74, 0x02},
		{1, 0x5b},
		{2, 0x31, 0xed},
		{2, 0xff, 0xd0},
		{1, 0xe8},
		{3, 0x8b, 0x45, 0xf8},
		{3, 0x0f, 0x05, 0x48},
		{1, 0},
	};
	u8 *code = (u8 *)memory + (from - MEMORY_BASE), *end = code + bytes;

	while (code + 4 < end) {
		const u8 *any = known[(u32)rand() % (sizeof(known) / sizeof(*known))];

		memcpy(code, any + 1, any[0]);
		code += any[0];
	}
}

/* The direct walk and the unwinder read the same bytes, also at both ends of the mapping. */
TEST(generated_code_is_read_as_the_unwinder_does)
{
	u32 deep = 0;

	srand(1);
	for (u32 i = 0; i < 20000; i++) {
		bool at_end = i % 4 == 1;
		u64 code = i % 4 == 0 ? WORD(0) : at_end ? WORD(WALKED_WORDS - 30) : WORD(50);
		u64 pc = code + (u32)rand() % (at_end ? 239 : 120);

		make_stack_of_one_frame();
		is_generated_code = true;
		memory_image = 0;
		code_write(code, 240);
		for (u32 word = 1000; word < 1200; word++)
			memory[word] = rand() % 4   ? WORD(50) + (u32)rand() % 100
				       : rand() % 2 ? WORD(1000 + (u32)rand() % 300)
						    : WORD(word - 2 + (u32)rand() % 12);
		walk.registers.known = (1U << REGISTER_COUNT) - 1;
		walk.registers.value[REGISTER_RIP] = pc;
		walk.registers.value[REGISTER_RSP] = WORD(1000);
		walk.registers.value[REGISTER_RBP] = WORD(1040);
		walk.registers.value[REGISTER_RAX] = i & 1;
		unwind.registers = walk.registers;
		unwind.guess_mark = FRAME_GUESSED;
		unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
		direct_walk(&direct);
		assert_int_equal(stack.depth, unwind.depth);
		assert_int_equal(walk.stop == STOP_ROOT, unwind.stop == STOP_ROOT);
		assert_int_equal(walk.stop == STOP_GUESSED, unwind.stop == STOP_GUESSED);
		if (walk.is_final)
			assert_int_equal(walk.stop, unwind.stop);
		for (u32 frame = 0; frame < stack.depth; frame++)
			assert_int_equal(stack.word[frame], frame_of_walk(unwind.frame[frame]));
		deep += stack.depth > 2;
	}
	assert_in_range(deep, 1000, 20000);
}

TEST(an_address_outside_of_user_code_ends_the_walk)
{
	make_stack_of_one_frame();
	memory[1001] = 0;
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	memory[1001] = WORD(20) | 1ULL << 63;
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	memory[1001] = WORD(WALKED_WORDS);
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	walk.is_compat = true;
	assert_int_equal(walk_again(), STOP_UNSUPPORTED);
	assert_int_equal(stack.depth, 0);
}

static const struct unwind_rule table_rules[] = {
	{.cfa_register = REGISTER_RSP, .cfa_offset = 16, .base = RULE_BASE_CFA, .slot = {[6] = 1}},
	{.flags = RULE_OUTERMOST},
};

/* Makes a table of two rules. The caller of the first rule's code, up to word 10, is in the second
 * rule's code, at word 20. */
static void make_table_of_two_rules(void)
{
	make_stack_of_one_frame();
	memset(&rules, 0, sizeof(rules));
	memset(chunks, 0, sizeof(chunks));
	chunks[CHUNK_ROOT] = (struct file_table_chunk){.count = 1, .first = CHUNK_NODE};
	chunks[CHUNK_NODE] = (struct file_table_chunk){.count = 1, .first = CHUNK_LEAF};
	chunks[CHUNK_LEAF] = (struct file_table_chunk){
		.count = 5,
		.first = CHUNK_RULES,
		.word = {FILE_TABLE_ROW(0, 0), FILE_TABLE_ROW(8 * 9, 1), FILE_TABLE_ROW(8 * 11, 0),
			 FILE_TABLE_ROW(8 * 19, 2), FILE_TABLE_ROW(8 * 20, 0)},
	};
	memcpy(chunks[CHUNK_RULES].word, table_rules, sizeof(table_rules));
	walk.search.space =
		(struct address_space){.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	has_table = true;
}

/* A return address belongs to the code before it, an interrupted pc to itself. */
TEST(a_table_is_searched_for_uncached_rules)
{
	make_table_of_two_rules();
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(walk.search.table_steps, 2);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(walk.search.table_steps, 0);
	memset(&steps, 0, sizeof(steps));
	memory[1001] = WORD(20) + 1;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	has_table = false;
	memory[1001] = WORD(20);
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

/* The walk also uses the steps that are cached. */
static u32 walk_with_cached_steps_from(u64 pc)
{
	walk.registers.known = (1U << REGISTER_COUNT) - 1;
	walk.registers.value[REGISTER_RIP] = pc;
	walk.registers.value[REGISTER_RSP] = WORD(1000);
	direct_walk(&direct);
	return walk.stop;
}

static u32 walk_from(u64 pc)
{
	memset(&steps, 0, sizeof(steps));
	walk_again();
	return walk_with_cached_steps_from(pc);
}

/* A look-up of one pc also caches the rule for the pcs around it. */
TEST(a_row_serves_its_neighbours)
{
	make_table_of_two_rules();
	chunks[CHUNK_LEAF].word[1] = FILE_TABLE_ROW(8 * 8, 1);
	chunks[CHUNK_LEAF].word[2] = FILE_TABLE_ROW(8 * 12, 0);
	chunks[CHUNK_LEAF].word[3] = FILE_TABLE_ROW(8 * 18, 2);
	assert_int_equal(walk_from(WORD(11)), STOP_ROOT);
	has_table = false;
	assert_int_equal(walk_from(WORD(10) + 1), STOP_ROOT);
	assert_int_equal(walk_from(WORD(9)), STOP_NO_RULE);
}

/* A rule that was made from code, without a table, may be a guess, so no step of it is cached. */
TEST(a_table_overrules_rules_made_from_code)
{
	const struct unwind_rule guess = {.flags = RULE_OUTERMOST};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(10)) | RULE_KEY_INTERRUPTED};

	make_table_of_two_rules();
	has_table = false;
	key = rule_key_by_code(&key);
	rule_cache_put(&rules, &key, &guess);
	assert_int_equal(walk_from(WORD(10)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
	has_table = true;
	assert_int_equal(walk_with_cached_steps_from(WORD(10)), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
}

/* If no row of the table covers the code, the cached rule that was made from the code is used. */
TEST(rules_made_from_code_count_outside_of_tables)
{
	const struct unwind_rule made = {.flags = RULE_OUTERMOST},
				 by_code = {.cfa_kind = CFA_BY_CODE};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(10)) | RULE_KEY_INTERRUPTED};

	make_table_of_two_rules();
	memcpy(chunks[CHUNK_RULES].word, &by_code, sizeof(by_code));
	key = rule_key_by_code(&key);
	rule_cache_put(&rules, &key, &made);
	assert_int_equal(walk_from(WORD(10)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
}

/* A process that writes a system call before a function, or over one, changes only its own rules.
 */
TEST(a_process_changes_only_its_own_rules)
{
	make_table_of_two_rules();
	memory[8] = 0x050fULL << 48;
	chunks[CHUNK_LEAF].word[0] = FILE_TABLE_ROW(0, 2);
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
	memory[8] = 0;
	walk.search.space.process++;
	assert_int_equal(walk_with_cached_steps_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	memory[8] = 0x050fULL << 48;
	walk.search.space.process++;
	assert_int_equal(walk_with_cached_steps_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
}

/* A probe of a function hits at the start of the function's row: the table is searched once for
 * each process. */
TEST(a_row_that_begins_is_searched_once)
{
	make_table_of_two_rules();
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	has_table = false;
	memory[8] = 0x050fULL << 48; /* the code as it was at the first walk */
	assert_int_equal(walk_with_cached_steps_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	walk.search.space.process++;
	assert_int_equal(walk_with_cached_steps_from(WORD(9)), STOP_NO_RULE);
}

/* The address behind a system call belongs to the code before it, also at the start of a row. */
TEST(a_pc_after_a_system_call_belongs_to_the_row_before)
{
	make_table_of_two_rules();
	assert_int_equal(walk_from(WORD(11)), STOP_NO_RULE);
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	memory[8] = 0x050fULL << 48;
	walk.search.space.process++;
	assert_int_equal(walk_from(WORD(9)), STOP_NO_RULE);
	chunks[CHUNK_LEAF].word[0] = FILE_TABLE_ROW(0, 2);
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
}

/* Rows that a process has in its copy of the table count if the file's own rows are unknown. */
TEST(the_table_counts_before_own_rules)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(10)) | RULE_KEY_INTERRUPTED};

	make_table_of_two_rules();
	key = rule_key_of_address_space(&key, &walk.search.space);
	rule_cache_put(&rules, &key, &outermost);
	has_table = false;
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
	has_table = true;
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
}

/* Code that no table covers: the cache knows from then on that no table covers the code and its
 * neighbours, but the rule is made from the bytes each time. */
TEST(code_without_tables_is_read)
{
	make_table_of_two_rules();
	memcpy(chunks[CHUNK_RULES].word, &(struct unwind_rule){.cfa_kind = CFA_BY_CODE},
	       sizeof(struct unwind_rule));
	chunks[CHUNK_LEAF].word[1] = FILE_TABLE_ROW(8 * 8, 1);
	memory[1000] = WORD(30);
	memory[1041] = WORD(20);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.word[1], MEMORY_FRAME(WORD(20)));
	walk_with_cached_steps_from(WORD(9));
	assert_true(walk.is_final); /* by code, which is unknown code */
	has_table = false;
	memory[9] = 0xc300; /* a byte, and ret */
	assert_int_equal(walk_with_cached_steps_from(WORD(9) + 1), STOP_NO_RULE);
	assert_int_equal(walk.registers.value[REGISTER_RIP], WORD(30));
}

/* One pc in the row that the partial table does not cover, and the pc at the row's start: results
 * from the partial table do not hide rules of the whole table, which comes later. */
TEST(a_partial_table_hides_no_rule_of_the_whole_one)
{
	static const u64 places[] = {WORD(9), WORD(10)};
	struct unwind_rule by_code = {.cfa_kind = CFA_BY_CODE};

	for (u32 i = 0; i < 2; i++) {
		make_table_of_two_rules();
		chunks[CHUNK_ROOT].is_partial = true;
		memcpy(chunks[CHUNK_RULES].word, &by_code, sizeof(by_code));
		chunks[CHUNK_LEAF].word[2] = FILE_TABLE_ROW(8 * 12, 0);
		walk_from(places[i]);
		assert_int_equal(walk.search.table_steps, 1);
		assert_int_not_equal(walk.stop, STOP_ROOT);
		chunks[CHUNK_ROOT].is_partial = false;
		memcpy(chunks[CHUNK_RULES].word, table_rules, sizeof(table_rules));
		assert_int_equal(walk_with_cached_steps_from(places[i]), STOP_ROOT);
		assert_int_equal(stack.depth, 2);
	}
}

/* Generated code is not part of a file. */
TEST(generated_code_is_in_no_table)
{
	make_table_of_two_rules();
	is_generated_code = true;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	assert_true(walk.is_final);
}
