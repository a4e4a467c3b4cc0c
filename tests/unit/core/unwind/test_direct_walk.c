/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the direct walk with the unwinder: on random stacks with random rules both give the same
 * frames, or the direct walk reports that the stack is incomplete. Every stack lies at the end of
 * the memory, where a whole window cannot be read.
 */
#include "arch/unwinding.h"
#include "walked_memory.h"

#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

#define STACKS 4000
#define DEPTH_MAX 60

/* Kinds of rules of a stack, beyond CFA = rsp + offset and registers saved below the CFA. */
enum variety {
	PLAIN,
	SUPPORTED, /* and the other rules that the direct walk supports */
	ALL	   /* and rules that the direct walk leaves to the unwinder */
};

static unsigned int seed;

static u32 random_number_below(u32 below)
{
	return (u32)rand_r(&seed) % below;
}

static u8 random_saved_register_slot(enum variety variety)
{
	switch (random_number_below(variety == ALL ? 12 : 10)) {
	case 0:
		return SLOT_LOST;
	case 1:
	case 2:
	case 3:
	case 4:
		return 2 + random_number_below(7);
	case 5:
		return variety == PLAIN ? 0 : 2 + random_number_below(60);
	case 10:
		return SLOT_IN_REGISTER + random_number_below(REGISTER_RIP);
	case 11:
		return 2 + random_number_below(SLOT_WORDS_MAX - 1);
	}
	return 0;
}

/* Chooses a register whose value the builder knows in the current frame. */
static u32 random_known_register(void)
{
	u32 reg;

	if (random_number_below(2))
		return REGISTER_RSP;
	do
		reg = random_number_below(REGISTER_RIP);
	while (!(builder.registers.known >> reg & 1));
	return reg;
}

/* Writes the registers of a signal where the kernel would have stored them. */
static void signal_write(struct unwind_rule *rule, u64 rsp, u64 pc)
{
	u64 *saved = &memory[(rsp - MEMORY_BASE + UCONTEXT_GENERAL) / 8];

	saved[15] = rsp + 8 * (20 + random_number_below(30));
	saved[16] = pc;
	rule->cfa_kind = CFA_SIGNAL;
	rule->cfa_register = REGISTER_RSP;
	rule->flags = RULE_SIGNAL;
}

static void cfa_choose(struct unwind_rule *rule, enum variety variety, u64 cfa)
{
	u64 pc = builder.registers.value[REGISTER_RIP], at;
	u32 kind = variety == PLAIN ? 0 : random_number_below(variety == ALL ? 8 : 6);

	rule->cfa_register =
		variety == PLAIN && random_number_below(4) ? REGISTER_RSP : random_known_register();
	at = cfa;
	if (kind == 1) {
		rule->cfa_kind = CFA_PLT;
		rule->operand = random_number_below(16);
		at -= (pc & 15) >= rule->operand ? 8 : 0;
	} else if (kind == 2) {
		rule->cfa_kind = CFA_DEREF;
		rule->operand = random_number_below(3);
		at = cfa - 8 * (1 + random_number_below(12));
		memory[(at - MEMORY_BASE) / 8] = cfa - 8 * rule->operand;
	} else if (kind == 6) {
		rule->cfa_kind = CFA_DEREF_INDEX;
		rule->base = random_known_register();
	} else if (kind == 7) {
		rule->flags = RULE_STACK_MOVED;
		rule->operand = random_known_register();
	}
	if (kind == 3)
		rule->base = random_known_register();
	rule->cfa_offset = (s32)(at - builder.registers.value[rule->cfa_register]);
}

/* A rule for the builder's frame, whose caller is at `pc`. */
static struct unwind_rule random_rule_of_frame(enum variety variety, u64 pc)
{
	u64 rsp = builder.registers.value[REGISTER_RSP];
	u64 cfa = rsp + 8 * (1 + random_number_below(random_number_below(8) ? 10 : 90));
	struct unwind_rule rule = {.base = RULE_BASE_CFA};

	if (variety != PLAIN && !random_number_below(10)) {
		signal_write(&rule, rsp, pc);
		return rule;
	}
	for (u32 i = 0; i < SLOT_RETURN; i++)
		rule.slot[i] = random_saved_register_slot(variety);
	rule.slot[SLOT_RETURN] = random_number_below(8) ? 1 : 1 + random_number_below(3);
	cfa_choose(&rule, variety, cfa);
	memory[(cfa - MEMORY_BASE) / 8 - rule.slot[SLOT_RETURN]] = pc;
	return rule;
}

static u64 pc_of(u32 frame)
{
	return MEMORY_BASE + 32 * frame + random_number_below(16);
}

/* A stack of some depth, its registers in unwind and walk. */
static void stack_build(enum variety variety)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	u32 depth = 1 + random_number_below(DEPTH_MAX);
	struct unwind_registers start;

	for (u32 i = 0; i < WALKED_WORDS; i++)
		memory[i] = WORD(random_number_below(WALKED_WORDS));
	memset(memory, 0xe8, pc_of(DEPTH_MAX) - MEMORY_BASE); /* all pcs are behind calls */
	memset(&rules, 0, sizeof(rules));
	memory_set(&builder, memory, sizeof(memory));
	for (u32 i = 0; i < REGISTER_RIP; i++)
		builder.registers.value[i] = WORD(random_number_below(WALKED_WORDS));
	builder.registers.value[REGISTER_RIP] = pc_of(0);
	builder.registers.value[REGISTER_RSP] = WORD(
		WALKED_WORDS / 2 + random_number_below(WALKED_WORDS / 2 - 100 * DEPTH_MAX / 4));
	start = builder.registers;
	for (u32 i = 1; i < depth; i++) {
		if (builder.registers.value[REGISTER_RSP] > WORD(WALKED_WORDS - 120))
			break;
		builder.rule = random_rule_of_frame(variety, pc_of(i));
		rule_keep(&builder.rule);
		if (unwind_step(&builder))
			break;
	}
	rule_keep(&outermost);
	memory_set(&unwind, memory, sizeof(memory));
	unwind.registers = start;
	walk.registers = start;
}

static bool is_complete(u32 stop)
{
	return stop == STOP_ROOT || stop == STOP_DEPTH;
}

/* Runs both walks. True if the direct walk has completed the stack; both stacks must then be equal.
 */
static bool walks_agree(u32 max_depth, bool leaf_apart)
{
	unwind.guess_mark = FRAME_GUESSED;
	unwind_stack(&unwind, max_depth);
	walk.max_depth = max_depth;
	walk.leaf_apart = leaf_apart;
	direct_walk(&direct);
	if (!is_complete(walk.stop))
		return false;
	assert_int_equal(walk.stop, unwind.stop);
	assert_int_equal(stack.depth + leaf_apart, unwind.depth);
	assert_int_equal(stack.flags, STACK_USER | (walk.stop == STOP_DEPTH ? STACK_TRUNCATED : 0));
	for (u32 i = leaf_apart; i < unwind.depth; i++)
		assert_int_equal(stack.word[i - leaf_apart], frame_of_walk(unwind.frame[i]));
	if (leaf_apart)
		assert_int_equal(walk.leaf, frame_of_walk(unwind.frame[0]));
	return true;
}

struct tally {
	u32 complete; /* stacks that the direct walk has completed */
	u32 missed;   /* stacks that only the unwinder has completed */
	u64 frames;
};

static struct tally walk_many(enum variety variety)
{
	struct tally tally = {0};

	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	is_generated_code = false;
	for (u32 i = 0; i < STACKS; i++) {
		u32 max_depth = random_number_below(4) ? STACK_USER_DEPTH_MAX
						       : 1 + random_number_below(DEPTH_MAX);
		struct unwind_registers start;

		seed = i + 1;
		stack_build(variety);
		start = walk.registers;
		walk.slot = random_number_below(4) ? 0 : random_number_below(STEP_CACHE_SLOTS);
		memset(&steps, 0, sizeof(steps));	  /* each stack has other rules */
		for (u32 again = 0; again < 2; again++) { /* the second time by cached steps */
			bool complete;

			walk.registers = start;
			unwind.registers = start;
			complete = walks_agree(max_depth, random_number_below(2));
			tally.complete += complete;
			tally.missed += !complete && is_complete(unwind.stop);
			tally.frames += unwind.depth;
		}
	}
	return tally;
}

TEST(plain_stacks_are_complete)
{
	struct tally tally = walk_many(PLAIN);

	assert_int_equal(tally.missed, 0);
	assert_true(tally.complete > STACKS);
	assert_true(tally.frames > 10ULL * STACKS);
}

/* A base in random memory cannot always be read: such a failure ends only the direct walk. */
TEST(other_supported_rules_give_the_same_stacks)
{
	struct tally tally = walk_many(SUPPORTED);

	assert_true(tally.complete > STACKS / 2);
	assert_true(tally.missed < tally.complete / 10);
}

TEST(unsupported_rules_are_left_to_the_unwinder)
{
	struct tally tally = walk_many(ALL);

	assert_true(tally.complete > 0 && tally.missed > 0);
}

/* The frames are a handler, the trampoline that it returns to, the interrupted function, and its
 * caller: the byte before each frame but the first belongs to the frame's function. */
TEST(frames_are_the_addresses_after_their_instructions)
{
	const u64 pc[] = {WORD(0), WORD(4), WORD(8), WORD(12)};
	const u64 expected[] = {pc[0], pc[1] + 1, pc[2] + 1, pc[3]};

	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	is_generated_code = false;
	memset(memory, 0, sizeof(memory));
	memset(&rules, 0, sizeof(rules));
	memset(&steps, 0, sizeof(steps));
	memory_set(&builder, memory, sizeof(memory));
	builder.registers.value[REGISTER_RIP] = pc[0];
	builder.registers.value[REGISTER_RSP] = WORD(2000);
	memory_set(&unwind, memory, sizeof(memory));
	unwind.registers = walk.registers = builder.registers;
	for (u32 i = 0; i < 4; i++) {
		builder.rule = (struct unwind_rule){
			.base = RULE_BASE_CFA,
			.cfa_register = REGISTER_RSP,
			.cfa_offset = i == 1 ? 0 : 8,
			.slot[SLOT_RETURN] = 1,
			.flags = i == 3 ? RULE_OUTERMOST : 0,
		};
		if (i == 1)
			signal_write(&builder.rule, builder.registers.value[REGISTER_RSP], pc[2]);
		else
			memory[(builder.registers.value[REGISTER_RSP] - MEMORY_BASE) / 8] =
				pc[(i + 1) % 4];
		rule_keep(&builder.rule);
		unwind_step(&builder);
	}
	for (u32 again = 0; again < 2; again++) {
		const struct unwind_registers start = walk.registers;

		assert_true(walks_agree(STACK_USER_DEPTH_MAX, again));
		walk.registers = unwind.registers = start;
	}
	assert_int_equal(unwind.depth, 4);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(unwind.frame[i], expected[i]);
}
