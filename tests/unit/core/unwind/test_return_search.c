/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The caller of code without any rule: return addresses that are proven, guessed, or neither. */
#include "arch/return_search.h"

#include <string.h>

#include "unit_test.h"

#define STACK 0x7ffff0000000ULL
#define PC 0x401234ULL
#define FUNCTION 0x401200ULL
#define DIRECT_CALLER 0x402005ULL  /* behind `call FUNCTION` */
#define OTHER_CALLER 0x403005ULL   /* behind a call of a function behind the pc */
#define POINTER_CALLER 0x404002ULL /* behind `call *%rax` */
#define NEARER_CALLER 0x406005ULL  /* behind a call of a function between FUNCTION and the pc */
#define INNER_CALLER (PC - 4)	   /* behind a call of a helper that lies before FUNCTION */
#define DATA 0x405000ULL

static u64 words[128];
static struct return_search search;
static struct unwind_rule rule;
static bool is_interrupted, is_generated, is_unlisted;
static u32 readable; /* words of the stack that can be read */
static u64 number;   /* value of rbp when rbp is no frame pointer */

/* The eight bytes in front of an address. */
static u64 code_before(u64 address)
{
	switch (address) {
	case DIRECT_CALLER:
		return (u64)(u32)(FUNCTION - DIRECT_CALLER) << 32 | 0xe8ULL << 24;
	case NEARER_CALLER:
		return (u64)(u32)(FUNCTION + 16 - NEARER_CALLER) << 32 | 0xe8ULL << 24;
	case INNER_CALLER:
		return (u64)(u32)(FUNCTION - 0x100 - INNER_CALLER) << 32 | 0xe8ULL << 24;
	case OTHER_CALLER:
		return 0x100ULL << 32 | 0xe8ULL << 24;
	case POINTER_CALLER:
		return 0xd0ffULL << 48;
	}
	return 0;
}

/* Searches with a frame pointer `pointer` words above rsp; 0: rbp is a number. */
static u32 find(u32 pointer, u32 flags, bool at_entry)
{
	struct unwind_registers registers = {.known = ~0U, .at_entry = at_entry};

	registers.value[REGISTER_RIP] = PC;
	registers.value[REGISTER_RSP] = STACK;
	registers.value[REGISTER_RBP] = pointer		     ? STACK + 8 * pointer
					: flags & RULE_ENTRY ? 0
							     : number;
	search = (struct return_search){
		.flags = flags | RULE_FRAME_POINTER,
		.word = 8,
		.is_interrupted = is_interrupted,
		.is_generated = is_generated,
		.is_unlisted = is_unlisted,
	};
	rule = (struct unwind_rule){.cfa_register = REGISTER_RBP, .cfa_offset = 16};
	return_search_set_registers(&search, &registers);
	for (u32 i = 0; return_search_choose_word(&search, i); i++) {
		if (search.address - STACK >= 8 * readable)
			break;
		search.value = words[(search.address - STACK) / 8];
		if (!return_search_may_be_return_address(&search))
			continue;
		search.before = code_before(search.value);
		if (return_search_check_code_before(&search))
			break;
	}
	return return_search_make_rule(&search, &rule);
}

/* Clears the stack of an interrupted function of a file. */
static void stack_clear(void)
{
	memset(words, 0, sizeof(words));
	is_interrupted = true;
	is_generated = false;
	is_unlisted = false;
	readable = sizeof(words) / sizeof(*words);
	number = 77;
}

static void assert_by_word(u32 word, bool is_guess)
{
	assert_int_equal(rule.cfa_register, REGISTER_RSP);
	assert_int_equal(rule.cfa_offset, 8 * (word + 1));
	assert_int_equal(search.is_guess, is_guess);
}

static void assert_by_pointer(bool is_guess)
{
	assert_int_equal(rule.cfa_register, REGISTER_RBP);
	assert_int_equal(search.is_guess, is_guess);
}

/* rbp is the caller's frame pointer, so the return address above it belongs to the caller. */
TEST(a_function_without_a_frame_has_its_direct_caller)
{
	stack_clear();
	words[0] = DIRECT_CALLER;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(0, false);
	assert_int_equal(rule.slot[SLOT_RBP], 0);
	assert_int_equal(find(0, 0, false), STOP_NONE);
	assert_by_word(0, false);
}

TEST(at_an_entry_the_return_address_is_on_top)
{
	stack_clear();
	words[0] = DATA;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, true), STOP_NONE);
	assert_by_word(0, false);
}

TEST(no_call_up_to_the_frame_pointer_proves_it)
{
	stack_clear();
	words[1] = DATA;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(false);
	words[2] = OTHER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(true);
	words[5] = DIRECT_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(false);
}

/* Old words may lie there, so a return address above rsp is a guess. */
TEST(a_return_address_is_found_above_pushed_words)
{
	stack_clear();
	words[1] = STACK + 8 * 20; /* saved rbp of the caller */
	words[3] = DIRECT_CALLER;
	words[4] = OTHER_CALLER;
	assert_int_equal(find(0, 0, false), STOP_NONE);
	assert_by_word(3, true);
	assert_int_equal(rule.slot[SLOT_RBP], 3);
	assert_int_equal(rule.slot[SLOT_RBX], SLOT_LOST);
}

/* For example a function of 32-bit code that passes its own return address as the second argument.
 */
TEST(a_copy_of_the_return_address_does_not_hide_the_frame_pointer)
{
	stack_clear();
	words[2] = DIRECT_CALLER;
	words[5] = DIRECT_CALLER;
	words[101] = DIRECT_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(false);
	assert_int_equal(find(100, 0, false), STOP_NONE);
	assert_by_pointer(false);
	words[2] = NEARER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(2, true);
}

/* The call of a helper has left its return address at rsp, since the function has moved rsp. */
TEST(the_functions_own_return_address_is_no_proof)
{
	stack_clear();
	words[0] = INNER_CALLER;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(0, true);
}

/* A recursive function is at its first instructions, and rbp still belongs to its caller. */
TEST(the_word_on_top_counts_before_the_frame_pointer)
{
	stack_clear();
	words[0] = DIRECT_CALLER;
	words[5] = DIRECT_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(0, false);
}

TEST(a_far_frame_pointer_is_proven_by_its_call_alone)
{
	stack_clear();
	words[101] = POINTER_CALLER;
	assert_int_equal(find(100, 0, false), STOP_NONE);
	assert_by_pointer(true);
	words[101] = DIRECT_CALLER;
	assert_int_equal(find(100, 0, false), STOP_NONE);
	assert_by_pointer(false);
}

/* A compute kernel that clears rbp and uses it as a counter. */
TEST(a_zero_is_no_root_where_a_caller_is_on_the_stack)
{
	stack_clear();
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_ROOT);
	words[3] = DIRECT_CALLER;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_NONE);
	assert_by_word(3, true);
	words[3] = OTHER_CALLER;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_NO_RULE);
	assert_int_equal(find(0, RULE_ENTRY | RULE_UNCALLED, false), STOP_ROOT);
}

/* A page of the stack may not be in memory. */
TEST(a_zero_is_no_root_where_no_stack_begins)
{
	stack_clear();
	number = 0;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_ROOT);
	assert_int_equal(find(0, 0, false), STOP_NO_RULE);
}

TEST(a_zero_is_no_root_where_the_stack_cannot_be_read)
{
	stack_clear();
	words[5] = DIRECT_CALLER;
	readable = 0;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_STACK_UNREADABLE);
	readable = 3;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_STACK_UNREADABLE);
	readable = 16;
	assert_int_equal(find(0, RULE_ENTRY, false), STOP_NONE);
}

/* The frame pointer is proven although old return addresses lie below it. */
TEST(the_frame_pointer_of_a_frame_that_called_is_proven)
{
	for (u32 pointer = 4; pointer <= 100; pointer += 96) {
		stack_clear();
		is_interrupted = false;
		words[0] = DIRECT_CALLER;
		words[2] = OTHER_CALLER;
		words[pointer] = STACK + 8 * 120;
		words[pointer + 1] = POINTER_CALLER;
		assert_int_equal(find(pointer, 0, false), STOP_NONE);
		assert_by_pointer(false);
		words[pointer + 1] = DIRECT_CALLER;
		assert_int_equal(find(pointer, 0, false), STOP_NONE);
		assert_by_pointer(false);
	}
	words[101] = DATA;
	words[0] = OTHER_CALLER;
	assert_int_equal(find(100, 0, false), STOP_NONE);
	assert_by_pointer(true);
	stack_clear();
	is_interrupted = false;
	words[2] = OTHER_CALLER;
	words[5] = DATA;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(false); /* the end of the chain */
	words[4] = DATA;
	words[3] = DIRECT_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(3, true);
}

/* A function without a frame that calls another one leaves its caller's frame pointer in rbp. The
 * return address of that frame is then behind a call of the caller, not of the function. Code that
 * the file's table lists without a rule belongs to a virtual machine, which jumps between its
 * functions. */
TEST(a_frame_pointer_of_another_function_is_a_guess)
{
	for (u32 pointer = 4; pointer <= 100; pointer += 96) {
		stack_clear();
		is_interrupted = false;
		words[pointer] = STACK + 8 * 120;
		for (u32 listed = 0; listed < 2; listed++) {
			is_unlisted = !listed;
			words[2] = DATA;
			words[pointer + 1] = OTHER_CALLER;
			assert_int_equal(find(pointer, 0, false), STOP_NONE);
			assert_by_pointer(is_unlisted);
			words[pointer + 1] = POINTER_CALLER;
			assert_int_equal(find(pointer, 0, false), STOP_NONE);
			assert_by_pointer(false);
			words[2] = DIRECT_CALLER;
			assert_int_equal(find(pointer, 0, false), STOP_NONE);
			assert_by_pointer(is_unlisted);
			words[pointer + 1] = DIRECT_CALLER;
			assert_int_equal(find(pointer, 0, false), STOP_NONE);
			assert_by_pointer(false);
			words[2] = NEARER_CALLER;
			assert_int_equal(find(pointer, 0, false), STOP_NONE);
			assert_by_pointer(is_unlisted);
		}
	}
}

TEST(generated_code_keeps_a_frame_pointer_but_for_a_call_on_top)
{
	stack_clear();
	is_generated = true;
	words[2] = DIRECT_CALLER;
	words[4] = STACK + 8 * 20;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_pointer(false);
	words[5] = DATA;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(2, true);
	words[0] = DIRECT_CALLER;
	words[5] = POINTER_CALLER;
	assert_int_equal(find(4, 0, false), STOP_NONE);
	assert_by_word(0, false);
}

TEST(without_any_caller_there_is_no_rule)
{
	stack_clear();
	words[1] = DATA;
	assert_int_equal(find(0, 0, false), STOP_NO_RULE);
	words[0] = POINTER_CALLER;
	assert_int_equal(find(0, 0, false), STOP_NONE);
	assert_by_word(0, true);
}
