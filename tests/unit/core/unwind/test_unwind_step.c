/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each kind of rule on a stack whose words are numbered: word i holds 0x1000 + i. */
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

#define WORDS 256
#define WORD(i) (MEMORY_BASE + 8 * (i))
#define HOLDS(i) (0x1000 + (i))

static struct unwind unwind;
static u64 stack[WORDS];
static const u64 *const value = unwind.registers.value;

static void reset_frame_and_stack_memory(void)
{
	for (u32 i = 0; i < WORDS; i++)
		stack[i] = HOLDS(i);
	memory_set(&unwind, stack, sizeof(stack));
	for (u32 i = 0; i < REGISTER_COUNT; i++)
		unwind.registers.value[i] = 0x100 + i;
	unwind.registers.value[REGISTER_RSP] = WORD(10);
	unwind.registers.value[REGISTER_RBP] = WORD(20);
}

static struct unwind_rule plain_rule(void)
{
	return (struct unwind_rule){.cfa_kind = CFA_REGISTER,
				    .cfa_register = REGISTER_RSP,
				    .cfa_offset = 8 * 8,
				    .base = RULE_BASE_CFA,
				    .slot = {[SLOT_RETURN] = 1}};
}

static bool is_known(u32 reg)
{
	return unwind.registers.known >> reg & 1;
}

static u32 step(const struct unwind_rule *rule)
{
	unwind.rule = *rule;
	return unwind_step(&unwind);
}

TEST(saved_registers_come_back)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.slot[SLOT_RBX] = 3;
	rule.slot[SLOT_R15] = 7;
	rule.slot[SLOT_R12] = SLOT_IN_REGISTER + REGISTER_RDI;
	rule.slot[SLOT_R13] = SLOT_LOST;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(18));
	assert_int_equal(value[REGISTER_RIP], HOLDS(17));
	assert_int_equal(value[REGISTER_RBX], HOLDS(15));
	assert_int_equal(value[REGISTER_R15], HOLDS(11));
	assert_int_equal(value[REGISTER_RBP], WORD(20));
	assert_int_equal(value[REGISTER_R12], 0x100 + REGISTER_RDI);
	assert_int_equal(value[REGISTER_R14], 0x100 + REGISTER_R14);
	assert_false(is_known(REGISTER_R13));
	assert_false(is_known(REGISTER_RAX));
	assert_true(is_known(REGISTER_R14));
}

TEST(a_lost_register_stays_lost)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	assert_int_equal(step(&rule), STOP_NONE);
	assert_true(is_known(REGISTER_R13));
	rule.slot[SLOT_R13] = SLOT_LOST;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_false(is_known(REGISTER_R13));
	rule.slot[SLOT_R13] = 0;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_false(is_known(REGISTER_R13));
	assert_true(is_known(REGISTER_R12));
}

TEST(far_slots_are_read_by_themselves)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_offset = 8 * 230;
	rule.slot[SLOT_RBX] = SLOT_WORDS_MAX;
	rule.slot[SLOT_R12] = STEP_WORDS;
	rule.slot[SLOT_R13] = STEP_WORDS + 1;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RBX], HOLDS(240 - SLOT_WORDS_MAX));
	assert_int_equal(value[REGISTER_R12], HOLDS(240 - STEP_WORDS));
	assert_int_equal(value[REGISTER_R13], HOLDS(240 - STEP_WORDS - 1));
	assert_int_equal(value[REGISTER_RIP], HOLDS(239));
}

TEST(the_cfa_may_be_in_memory)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	stack[12] = WORD(40);
	rule.cfa_kind = CFA_DEREF;
	rule.cfa_offset = 16;
	rule.operand = 1;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(41));
	assert_int_equal(value[REGISTER_RIP], HOLDS(40));
	reset_frame_and_stack_memory();
	stack[15] = WORD(40);
	unwind.registers.value[REGISTER_R9] = 3;
	rule.cfa_kind = CFA_DEREF_INDEX;
	rule.base = REGISTER_R9;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(41));
}

TEST(registers_may_be_saved_below_another)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.base = REGISTER_RBP;
	rule.slot[SLOT_RBP] = 1;
	rule.slot[SLOT_RBX] = 4;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RBP], HOLDS(20));
	assert_int_equal(value[REGISTER_RBX], HOLDS(17));
	assert_int_equal(value[REGISTER_RIP], HOLDS(17));
	reset_frame_and_stack_memory();
	unwind.registers.value[REGISTER_RBP] = 8;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RIP], HOLDS(17));
	assert_false(is_known(REGISTER_RBP));
}

/* A rule by rax, which points to word 17, which holds an address behind a call of word 60. */
static struct unwind_rule make_frame_with_rule_by_rax(void)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_register = REGISTER_RAX;
	rule.cfa_offset = 8;
	unwind.registers.value[REGISTER_RIP] = WORD(60) + 4;
	unwind.registers.value[REGISTER_RAX] = WORD(17);
	unwind.registers.known &= ~(1U << REGISTER_RAX);
	stack[17] = WORD(6);
	stack[5] = (8ULL * 54) << 32 | 0xe8U << 24;
	return rule;
}

TEST(rax_counts_after_a_call_if_a_return_address_proves_it)
{
	struct unwind_rule rule = make_frame_with_rule_by_rax();

	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(18));
	assert_int_equal(value[REGISTER_RIP], WORD(6));
	assert_int_equal(value[REGISTER_RAX], WORD(17));
	assert_false(is_known(REGISTER_RAX));

	make_frame_with_rule_by_rax();
	stack[5] = (8ULL * 55) << 32 | 0xe8U << 24; /* a call of a function behind the pc */
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
	make_frame_with_rule_by_rax();
	stack[5] = 0xd0ffULL << 48; /* a call through a register */
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
	make_frame_with_rule_by_rax();
	stack[9] = WORD(6);
	unwind.registers.value[REGISTER_RAX] = WORD(9); /* not further out than rsp */
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
	make_frame_with_rule_by_rax();
	rule.cfa_register = REGISTER_RDX;
	unwind.registers.value[REGISTER_RDX] = WORD(17);
	unwind.registers.known &= ~(1U << REGISTER_RDX);
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
}

TEST(stubs_push_a_word_halfway)
{
	struct unwind_rule rule = plain_rule();

	rule.cfa_kind = CFA_PLT;
	rule.cfa_offset = 8;
	rule.operand = 11;
	reset_frame_and_stack_memory();
	unwind.registers.value[REGISTER_RIP] = 0x5555a;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RIP], HOLDS(10));
	reset_frame_and_stack_memory();
	unwind.registers.value[REGISTER_RIP] = 0x5555b;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RIP], HOLDS(11));
}

TEST(signals_bring_all_registers)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_kind = CFA_SIGNAL;
	rule.cfa_offset = 0;
	rule.flags = RULE_SIGNAL;
	unwind.is_interrupted = false;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_true(unwind.is_interrupted);
	assert_int_equal(value[REGISTER_R8], HOLDS(15));
	assert_int_equal(value[REGISTER_R15], HOLDS(22));
	assert_int_equal(value[REGISTER_RBP], HOLDS(25));
	assert_int_equal(value[REGISTER_RCX], HOLDS(29));
	assert_int_equal(value[REGISTER_RSP], HOLDS(30));
	assert_int_equal(value[REGISTER_RIP], HOLDS(31));
	assert_int_equal(unwind.registers.known, (1U << REGISTER_COUNT) - 1);
}

/* The thread's g is word 100, its m word 110, the goroutine's g word 120. The goroutine's stack
 * begins at word 200; its caller is word 5, behind a call. */
static struct unwind_rule make_frame_on_scheduler_stack(void)
{
	reset_frame_and_stack_memory();
	unwind.registers.value[REGISTER_THREAD] = WORD(99);
	stack[98] = WORD(100);
	stack[100 + 6] = WORD(110);
	stack[110 + 3] = WORD(120);
	stack[120 + 7] = WORD(200);
	stack[200] = WORD(5);
	stack[4] = 0xe8ULL << 24;
	unwind.switches = (struct stack_switches){.entered = WORD(10)};
	return (struct unwind_rule){.cfa_kind = CFA_GO_SAVED,
				    .cfa_register = REGISTER_RSP,
				    .cfa_offset = -8,
				    .operand = 1,
				    .base = RULE_BASE_CFA,
				    .slot = {[GO_SLOT_M] = 6,
					     [GO_SLOT_GOROUTINE] = 3,
					     [GO_SLOT_STACK] = 7,
					     [SLOT_RETURN] = 1}};
}

TEST(the_scheduler_leads_to_its_goroutine)
{
	struct unwind_rule rule = make_frame_on_scheduler_stack();

	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(201));
	assert_int_equal(value[REGISTER_RIP], WORD(5));
	assert_int_equal(value[REGISTER_RBP], WORD(20));
	assert_int_equal(value[REGISTER_THREAD], WORD(99));
	assert_int_equal(unwind.registers.known,
			 1U << REGISTER_RSP | 1U << REGISTER_RIP | 1U << REGISTER_RBP);
	assert_int_equal(unwind.switches.count, 1);
	assert_int_equal(unwind.switches.entered, WORD(201));

	make_frame_on_scheduler_stack();
	stack[4] = 0; /* no call before the address */
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	make_frame_on_scheduler_stack();
	stack[120 + 7] = WORD(9); /* an address on the current stack */
	stack[9] = WORD(5);
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	make_frame_on_scheduler_stack();
	unwind.registers.value[REGISTER_THREAD] = 0;
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
	make_frame_on_scheduler_stack();
	stack[110 + 3] = 0;
	assert_int_equal(step(&rule), STOP_ROOT);
}

TEST(a_goroutine_whose_stack_grows_has_saved_its_registers)
{
	struct unwind_rule rule = make_frame_on_scheduler_stack();

	rule.operand = 0;
	rule.slot[GO_SLOT_RBP] = 13;
	stack[120 + 8] = WORD(5);
	stack[120 + 13] = WORD(220);
	stack[199] = HOLDS(199); /* the stack has moved, and has no return address yet */
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(200));
	assert_int_equal(value[REGISTER_RIP], WORD(5));
	assert_int_equal(value[REGISTER_RBP], WORD(220));

	make_frame_on_scheduler_stack();
	stack[120 + 8] = WORD(5);
	unwind.registers.known &= ~(1U << REGISTER_RBP); /* lost in the scheduler */
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
}

TEST(c_code_comes_back_by_a_depth)
{
	struct unwind_rule rule = make_frame_on_scheduler_stack();

	rule.cfa_kind = CFA_GO_DEPTH;
	rule.cfa_offset = 16;
	rule.slot[GO_SLOT_STACK] = 1;
	rule.slot[GO_SLOT_DEPTH] = 3;
	rule.slot[SLOT_RBP] = 2;
	stack[12] = WORD(120);
	stack[121] = WORD(240);
	stack[13] = 8 * 40;
	stack[199] = WORD(220);
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(201));
	assert_int_equal(value[REGISTER_RIP], WORD(5));
	assert_int_equal(value[REGISTER_RBP], WORD(220));
}

TEST(frames_only_go_outwards)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_offset = -8;
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	reset_frame_and_stack_memory();
	unwind.is_interrupted = false;
	rule.cfa_offset = 0;
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	reset_frame_and_stack_memory();
	assert_int_equal(step(&rule), STOP_NONE);
	reset_frame_and_stack_memory();
	rule.cfa_offset = 12;
	assert_int_equal(step(&rule), STOP_UNALIGNED);
}

/* The caller's frame ends at word 30, below the stack that begins at word 100. */
static struct unwind_rule make_frame_on_switched_stack(void)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_register = REGISTER_RBP;
	rule.flags = RULE_SWITCHED;
	rule.cfa_offset = 8 * 10;
	unwind.registers.value[REGISTER_RSP] = WORD(100);
	unwind.switches = (struct stack_switches){.entered = WORD(100)};
	stack[29] = WORD(6);
	stack[5] = 0xe8U << 24;
	return rule;
}

TEST(a_caller_on_another_stack_is_proven_by_its_call)
{
	struct unwind_rule rule = make_frame_on_switched_stack();

	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RSP], WORD(30));
	assert_int_equal(value[REGISTER_RIP], WORD(6));
	assert_int_equal(unwind.switches.count, 1);

	make_frame_on_switched_stack();
	stack[5] = 0; /* no call before the address */
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	make_frame_on_switched_stack();
	rule.flags |= RULE_FRAME_POINTER; /* with this rule rbp may be any number */
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
	make_frame_on_switched_stack();
	rule.flags = 0; /* this rule allows the same stack */
	assert_int_equal(step(&rule), STOP_NO_PROGRESS);
}

TEST(each_way_to_stop_has_its_name)
{
	struct unwind_rule rule = plain_rule();

	reset_frame_and_stack_memory();
	rule.cfa_register = REGISTER_R10;
	unwind.registers.known &= ~(1U << REGISTER_R10);
	assert_int_equal(step(&rule), STOP_UNKNOWN_REGISTER);
	rule = plain_rule();
	rule.cfa_offset = 8 * WORDS;
	assert_int_equal(step(&rule), STOP_STACK_UNREADABLE);
	unwind.budget = 0;
	assert_int_equal(step(&rule), STOP_BUDGET);
	reset_frame_and_stack_memory();
	rule = plain_rule();
	stack[17] = 0;
	assert_int_equal(step(&rule), STOP_NULL_RETURN);
	rule.flags = RULE_OUTERMOST;
	assert_int_equal(step(&rule), STOP_ROOT);
}

/* The stop reason of a step whose return address is 0. */
static u32 step_to_null(const struct unwind_rule *rule, u64 rbp, u64 rbx)
{
	static const u32 saved[] = {REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15};

	reset_frame_and_stack_memory();
	stack[17] = 0;
	for (u32 i = 0; i < 4; i++)
		unwind.registers.value[saved[i]] = 0;
	unwind.registers.value[REGISTER_RBP] = rbp;
	unwind.registers.value[REGISTER_RBX] = rbx;
	return step(rule);
}

TEST(a_made_stack_ends_at_a_null_return)
{
	struct unwind_rule rule = plain_rule();

	assert_int_equal(WORD(18) & 15, 0);
	assert_int_equal(step_to_null(&rule, 0, 0), STOP_ROOT);
	assert_int_equal(step_to_null(&rule, WORD(18), 0), STOP_ROOT);
	rule.slot[SLOT_RBX] = SLOT_LOST;
	assert_int_equal(step_to_null(&rule, 0, 5), STOP_ROOT);
}

/* A null return address is the result of a wrong CFA or an overwritten return address. */
TEST(any_other_null_return_cuts_the_stack)
{
	struct unwind_rule rule = plain_rule();

	assert_int_equal(step_to_null(&rule, WORD(17), 0), STOP_NULL_RETURN);
	assert_int_equal(step_to_null(&rule, 1, 0), STOP_NULL_RETURN);
	assert_int_equal(step_to_null(&rule, 0, 5), STOP_NULL_RETURN);
	rule.slot[SLOT_RBP] = SLOT_LOST;
	assert_int_equal(step_to_null(&rule, 0, 0), STOP_NULL_RETURN);
	rule = plain_rule();
	rule.flags = RULE_FRAME_POINTER;
	assert_int_equal(step_to_null(&rule, 0, 0), STOP_NULL_RETURN);
	rule.flags = RULE_SIGNAL;
	assert_int_equal(step_to_null(&rule, 0, 0), STOP_NULL_RETURN);
	rule.flags = 0;
	rule.cfa_offset = 7 * 8;
	rule.slot[SLOT_RETURN] = 1;
	reset_frame_and_stack_memory();
	stack[16] = 0;
	for (u32 i = 0; i < REGISTER_COUNT; i++)
		if (i != REGISTER_RSP)
			unwind.registers.value[i] = 0;
	assert_int_equal(step(&rule), STOP_NULL_RETURN);
}

TEST(tasks_of_32_bits_have_short_words)
{
	static u32 words[32];
	struct unwind_rule rule = plain_rule();

	for (u32 i = 0; i < 32; i++)
		words[i] = HOLDS(i);
	memory_set(&unwind, words, sizeof(words));
	unwind.is_compat = true;
	unwind.registers.value[REGISTER_RSP] = MEMORY_BASE;
	rule.cfa_offset = 4 * 6;
	rule.slot[SLOT_RBP] = 2;
	assert_int_equal(step(&rule), STOP_NONE);
	assert_int_equal(value[REGISTER_RIP], HOLDS(5));
	assert_int_equal(value[REGISTER_RBP], HOLDS(4));
	assert_int_equal(value[REGISTER_RSP], MEMORY_BASE + 24);
}
