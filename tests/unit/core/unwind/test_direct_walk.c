/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The direct walk against the unwinder: on random stacks of random rules both give the same frames,
 * or the direct walk says that it could not. Every stack lies at the end of the memory, where a
 * whole window cannot be read. And rules of the table of a whole file, where no other is known.
 */
#include "unwind/direct_walk.h"
#include "unwind/signal_context.h"
#include "unwind_memory.h"

/* cmocka needs these three before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 4096 /* whole pages */
#define WORD(i) (MEMORY_BASE + 8 * (u64)(i))
#define STACKS 4000
#define DEPTH_MAX 60

/* What a stack may consist of, beyond CFA = rsp + offset and registers saved below the CFA. */
enum variety {
	PLAIN,
	SUPPORTED, /* and what the direct walk knows besides */
	ALL	   /* and what it leaves to the unwinder */
};

static u64 memory[WORDS];
static struct rule_cache rules;
static struct step_cache steps;
static struct direct_walk walk;
static struct stack stack;
static struct unwind unwind, builder;
static struct direct direct = {.walk = &walk, .steps = &steps, .rules = &rules, .stack = &stack};
static bool is_generated_code;
static bool is_code_apart;
static unsigned int seed;

static u32 any(u32 below)
{
	return (u32)rand_r(&seed) % below;
}

bool direct_read(struct direct *context, u64 address, void *buffer, u32 bytes)
{
	(void)context;
	return unwind_read(&unwind, address, buffer, bytes);
}

u64 direct_frame(struct direct *context, u64 pc, u64 *code_start)
{
	(void)context;
	if (is_generated_code)
		*code_start = MEMORY_BASE;
	return pc - MEMORY_BASE < sizeof(memory) ? MEMORY_FRAME(pc) : 0;
}

u64 direct_code_apart(struct direct *context)
{
	(void)context;
	return is_code_apart ? MEMORY_BASE : 0;
}

/* The table of the file, of one leaf; its code is in the two rules that frames have. */
enum { CHUNK_ROOT, CHUNK_NODE, CHUNK_LEAF, CHUNK_RULES, CHUNKS };
static struct file_table_chunk chunks[CHUNKS];
static bool has_table;

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	return has_table && search->number == FRAME_MAPPING(MEMORY_FRAME(MEMORY_BASE)) &&
			       index < CHUNKS
		       ? &chunks[index]
		       : NULL;
}

void file_table_use(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

static u8 any_slot(enum variety variety)
{
	switch (any(variety == ALL ? 12 : 10)) {
	case 0:
		return SLOT_LOST;
	case 1:
	case 2:
	case 3:
	case 4:
		return 2 + any(7);
	case 5:
		return variety == PLAIN ? 0 : 2 + any(60);
	case 10:
		return SLOT_IN_REGISTER + any(REGISTER_RIP);
	case 11:
		return 2 + any(SLOT_WORDS_MAX - 1);
	}
	return 0;
}

/* A register that is known in the builder's current frame. */
static u32 any_register(void)
{
	u32 reg;

	if (any(2))
		return REGISTER_RSP;
	do
		reg = any(REGISTER_RIP);
	while (!(builder.registers.known >> reg & 1));
	return reg;
}

/* Where the kernel would have left the registers of a signal. */
static void signal_write(struct unwind_rule *rule, u64 rsp, u64 pc)
{
	u64 *saved = &memory[(rsp - MEMORY_BASE + UCONTEXT_GENERAL) / 8];

	saved[15] = rsp + 8 * (20 + any(30));
	saved[16] = pc;
	rule->cfa_kind = CFA_SIGNAL;
	rule->cfa_register = REGISTER_RSP;
	rule->flags = RULE_SIGNAL;
}

static void cfa_choose(struct unwind_rule *rule, enum variety variety, u64 cfa)
{
	u64 pc = builder.registers.value[REGISTER_RIP], at;
	u32 kind = variety == PLAIN ? 0 : any(variety == ALL ? 8 : 6);

	rule->cfa_register = variety == PLAIN && any(4) ? REGISTER_RSP : any_register();
	at = cfa;
	if (kind == 1) {
		rule->cfa_kind = CFA_PLT;
		rule->operand = any(16);
		at -= (pc & 15) >= rule->operand ? 8 : 0;
	} else if (kind == 2) {
		rule->cfa_kind = CFA_DEREF;
		rule->operand = any(3);
		at = cfa - 8 * (1 + any(12));
		memory[(at - MEMORY_BASE) / 8] = cfa - 8 * rule->operand;
	} else if (kind == 6) {
		rule->cfa_kind = CFA_DEREF_INDEX;
		rule->base = any_register();
	} else if (kind == 7) {
		rule->flags = RULE_STACK_MOVED;
		rule->operand = any_register();
	}
	if (kind == 3)
		rule->base = any_register();
	rule->cfa_offset = (s32)(at - builder.registers.value[rule->cfa_register]);
}

/* A rule for the builder's frame, whose caller is at `pc`. */
static struct unwind_rule any_rule(enum variety variety, u64 pc)
{
	u64 rsp = builder.registers.value[REGISTER_RSP];
	u64 cfa = rsp + 8 * (1 + any(any(8) ? 10 : 90));
	struct unwind_rule rule = {.base = RULE_BASE_CFA};

	if (variety != PLAIN && !any(10)) {
		signal_write(&rule, rsp, pc);
		return rule;
	}
	for (u32 i = 0; i < SLOT_RETURN; i++)
		rule.slot[i] = any_slot(variety);
	rule.slot[SLOT_RETURN] = any(8) ? 1 : 1 + any(3);
	cfa_choose(&rule, variety, cfa);
	memory[(cfa - MEMORY_BASE) / 8 - rule.slot[SLOT_RETURN]] = pc;
	return rule;
}

static void rule_keep(const struct unwind_rule *rule)
{
	struct rule_key key =
		unwind_rule_key(&builder, MEMORY_FRAME(builder.registers.value[REGISTER_RIP]));

	rule_cache_put(&rules, &key, rule);
}

static u64 pc_of(u32 frame)
{
	return MEMORY_BASE + 32 * frame + any(16);
}

/* A stack of some depth, its registers in unwind and walk. */
static void stack_build(enum variety variety)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	u32 depth = 1 + any(DEPTH_MAX);
	struct unwind_registers start;

	for (u32 i = 0; i < WORDS; i++)
		memory[i] = WORD(any(WORDS));
	memset(&rules, 0, sizeof(rules));
	memory_set(&builder, memory, sizeof(memory));
	for (u32 i = 0; i < REGISTER_RIP; i++)
		builder.registers.value[i] = WORD(any(WORDS));
	builder.registers.value[REGISTER_RIP] = pc_of(0);
	builder.registers.value[REGISTER_RSP] =
		WORD(WORDS / 2 + any(WORDS / 2 - 100 * DEPTH_MAX / 4));
	start = builder.registers;
	for (u32 i = 1; i < depth; i++) {
		if (builder.registers.value[REGISTER_RSP] > WORD(WORDS - 120))
			break;
		builder.rule = any_rule(variety, pc_of(i));
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

/* Both walk; whether the direct one completed its stack, which then has to be the same. */
static bool walks_agree(u32 max_depth, bool leaf_apart)
{
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
		assert_int_equal(stack.word[i - leaf_apart], MEMORY_FRAME(unwind.frame[i]));
	if (leaf_apart)
		assert_int_equal(walk.leaf, MEMORY_FRAME(unwind.frame[0]));
	return true;
}

struct tally {
	u32 complete; /* of the direct walk */
	u32 missed;   /* the unwinder's alone */
	u64 frames;
};

static struct tally walk_many(enum variety variety)
{
	struct tally tally = {0};

	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	is_generated_code = false;
	memset(&steps, 0, sizeof(steps));
	for (u32 i = 0; i < STACKS; i++) {
		u32 max_depth = any(4) ? STACK_USER_DEPTH_MAX : 1 + any(DEPTH_MAX);
		struct unwind_registers start;

		seed = i + 1;
		stack_build(variety);
		start = walk.registers;
		walk.owns_steps = any(4) != 0;
		walk.space = (struct address_space){.mm = 64, .sequence = 2 * i};
		for (u32 again = 0; again < 2; again++) { /* the second time by cached steps */
			bool complete;

			walk.registers = start;
			unwind.registers = start;
			complete = walks_agree(max_depth, any(2));
			tally.complete += complete;
			tally.missed += !complete && is_complete(unwind.stop);
			tally.frames += unwind.depth;
		}
	}
	return tally;
}

static void plain_stacks_are_complete(void **state)
{
	struct tally tally = walk_many(PLAIN);

	(void)state;
	assert_int_equal(tally.missed, 0);
	assert_true(tally.complete > STACKS);
	assert_true(tally.frames > 10ULL * STACKS);
}

/* A base in random memory cannot always be read: what is lost there ends the direct walk alone. */
static void other_rules_are_known_too(void **state)
{
	struct tally tally = walk_many(SUPPORTED);

	(void)state;
	assert_true(tally.complete > STACKS / 2);
	assert_true(tally.missed < tally.complete / 10);
}

static void what_it_does_not_know_it_leaves(void **state)
{
	struct tally tally = walk_many(ALL);

	(void)state;
	assert_true(tally.complete > 0 && tally.missed > 0);
}

/* One frame, its root above it. */
static void one_caller(void)
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
	walk.owns_steps = true;
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
	walk.registers.value[REGISTER_RBP] = WORD(1100);
	direct_walk(&direct);
	return walk.stop;
}

static void steps_hold_in_their_address_space(void **state)
{
	(void)state;
	one_caller();
	walk.space = (struct address_space){.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	assert_int_equal(walk_again(), STOP_ROOT);
	memset(&rules, 0, sizeof(rules));
	assert_int_equal(walk_again(), STOP_ROOT);
	for (u32 i = 0; i < 4; i++) {
		struct address_space space = walk.space;

		walk.space.mm += i == 0;
		walk.space.process += i == 1;
		walk.space.execs += i == 2;
		walk.space.sequence += 2 * (i == 3);
		assert_int_equal(walk_again(), STOP_NO_RULE);
		walk.space = space;
	}
	assert_int_equal(walk_again(), STOP_ROOT);
	walk.owns_steps = false;
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

/* Of code without a file they would be those of other bytes. */
static void own_rules_hold_in_their_address_space(void **state)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	const struct address_space space = {.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(21))};

	(void)state;
	one_caller();
	walk.space = space;
	assert_int_equal(walk_again(), STOP_ROOT);
	memory[1001] = WORD(21);
	assert_int_equal(walk_again(), STOP_NO_RULE);
	key = rule_key_own(&key, &space);
	rule_cache_put(&rules, &key, &outermost);
	assert_int_equal(walk_again(), STOP_ROOT);
	walk.space.process++;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	walk.space = space;
	walk.owns_steps = false;
	is_generated_code = true;
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

static void steps_are_not_kept_while_mappings_change(void **state)
{
	(void)state;
	one_caller();
	walk.space.sequence = 3;
	assert_int_equal(walk_again(), STOP_ROOT);
	memset(&rules, 0, sizeof(rules));
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

/* The unwinder keeps its rules by the bytes of the code. */
static void unwind_without_tables(void)
{
	memory_rules = &rules;
	memory_image = 0;
	unwind.registers = walk.registers;
	unwind.registers.value[REGISTER_RBP] = WORD(1100);
	memory[1101] = WORD(20);
	unwind_stack(&unwind, STACK_USER_DEPTH_MAX);
	assert_int_equal(unwind.stop, STOP_ROOT);
}

/* Generated code: its rule is found by its bytes, and no more once these have changed. */
static void generated_code_is_looked_at(void **state)
{
	(void)state;
	one_caller();
	is_generated_code = true;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	memset(&rules, 0, sizeof(rules));
	unwind_without_tables();
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	memory[20]++;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	assert_int_equal(stack.depth, 1);
}

/* Code of a file, apart from the file's tables: as generated code, but what is known of the file
 * comes first. */
static void code_apart_is_known_by_its_bytes(void **state)
{
	(void)state;
	one_caller();
	is_code_apart = true;
	assert_int_equal(walk_again(), STOP_ROOT);
	memset(&rules, 0, sizeof(rules));
	memset(&steps, 0, sizeof(steps));
	assert_int_equal(walk_again(), STOP_NO_RULE);
	unwind_without_tables();
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	is_code_apart = false;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	is_code_apart = true;
	memory[20]++;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	is_code_apart = false;
}

static void what_is_no_user_code_ends_it(void **state)
{
	(void)state;
	one_caller();
	memory[1001] = 0;
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	memory[1001] = WORD(20) | 1ULL << 63;
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	memory[1001] = WORD(WORDS);
	assert_int_equal(walk_again(), STOP_NOT_CODE);
	walk.is_compat = true;
	assert_int_equal(walk_again(), STOP_UNSUPPORTED);
	assert_int_equal(stack.depth, 0);
}

static const struct unwind_rule table_rules[] = {
	{.cfa_register = REGISTER_RSP, .cfa_offset = 16, .base = RULE_BASE_CFA, .slot = {[6] = 1}},
	{.flags = RULE_OUTERMOST},
};

/* The caller of the first rule's code, up to word 10, is in the second one's, of word 20. */
static void one_table(void)
{
	one_caller();
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
	walk.space = (struct address_space){.mm = 64, .process = 5, .execs = 1, .sequence = 2};
	has_table = true;
}

/* A return address belongs to the code before it, an interrupted pc to itself. */
static void a_table_knows_what_caches_do_not(void **state)
{
	(void)state;
	one_table();
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 2);
	assert_int_equal(walk.table_steps, 2);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(walk.table_steps, 0);
	memset(&steps, 0, sizeof(steps));
	memory[1001] = WORD(20) + 1;
	assert_int_equal(walk_again(), STOP_NO_RULE);
	has_table = false;
	memory[1001] = WORD(20);
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

static u32 walk_from(u64 pc)
{
	memset(&steps, 0, sizeof(steps));
	walk_again();
	walk.registers.known = (1U << REGISTER_COUNT) - 1;
	walk.registers.value[REGISTER_RIP] = pc;
	walk.registers.value[REGISTER_RSP] = WORD(1000);
	direct_walk(&direct);
	return walk.stop;
}

/* What is behind a system call belongs to the code before it, also where a row begins. */
static void a_row_begins_behind_a_system_call(void **state)
{
	(void)state;
	one_table();
	assert_int_equal(walk_from(WORD(11)), STOP_NO_RULE);
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	memory[8] = 0x050fULL << 48;
	assert_int_equal(walk_from(WORD(9)), STOP_NO_RULE);
	chunks[CHUNK_LEAF].word[0] = FILE_TABLE_ROW(0, 2);
	assert_int_equal(walk_from(WORD(9)), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
}

/* A process may have written to its copy of the tables. */
static void own_rules_count_before_the_table(void **state)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	struct rule_key key = {.place = MEMORY_FRAME(WORD(10)) | RULE_KEY_INTERRUPTED};

	(void)state;
	one_table();
	key = rule_key_own(&key, &walk.space);
	rule_cache_put(&rules, &key, &outermost);
	assert_int_equal(walk_again(), STOP_ROOT);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(walk.table_steps, 0);
}

/* Its place is no file's. */
static void generated_code_is_in_no_table(void **state)
{
	(void)state;
	one_table();
	is_generated_code = true;
	assert_int_equal(walk_again(), STOP_NO_RULE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_stacks_are_complete),
		cmocka_unit_test(other_rules_are_known_too),
		cmocka_unit_test(what_it_does_not_know_it_leaves),
		cmocka_unit_test(steps_hold_in_their_address_space),
		cmocka_unit_test(own_rules_hold_in_their_address_space),
		cmocka_unit_test(steps_are_not_kept_while_mappings_change),
		cmocka_unit_test(generated_code_is_looked_at),
		cmocka_unit_test(code_apart_is_known_by_its_bytes),
		cmocka_unit_test(what_is_no_user_code_ends_it),
		cmocka_unit_test(a_table_knows_what_caches_do_not),
		cmocka_unit_test(a_row_begins_behind_a_system_call),
		cmocka_unit_test(own_rules_count_before_the_table),
		cmocka_unit_test(generated_code_is_in_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
