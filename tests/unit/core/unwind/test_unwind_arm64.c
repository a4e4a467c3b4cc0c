/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables, code and steps of arm64, on any machine: the unwinder is built with arm64's registers. */
#include "walked_memory.h"

#include <string.h>

#include "unit_test.h"

#define MASK ((1ULL << 48) - 1)
#define SIGNED(address) ((address) | 0x5aULL << 48)
#define TAGGED(address) ((address) | 0x5aULL << 56)
#define TAG_ALONE (1ULL << 63)
#define SP WORD(100)
#define CODE (MEMORY_BASE + 512)
#define NOP 0xd503201f
#define PACIASP 0xd503233f
#define AUTIASP 0xd50323bf
#define BTI_C 0xd503245f
#define RET 0xd65f03c0
#define STP_48 0xa9bd7bfd /* stp x29, x30, [sp, #-48]! */
#define LDP_48 0xa8c37bfd /* ldp x29, x30, [sp], #48 */
#define MOV_SP_FP 0x910003fd
#define MOV_139_X8 0xd2801168
#define SVC 0xd4000001
#define BL(from, to) (0x94000000 | ((u32)(((s64)(to) - (s64)(from)) / 4) & 0x3ffffff))
#define BLR_X1 0xd63f0020
#define STP_X16_LINK 0xa9bf7bf0

static const struct unwind_rule *const rule = &unwind.rule;
static u64 *const value = unwind.registers.value;

static void begin(void)
{
	memset(memory, 0, sizeof(memory));
	memory_set(&unwind, memory, sizeof(memory));
	unwind_find_mapping(&unwind, MEMORY_BASE);
	value[REGISTER_CODE_MASK] = MASK;
	value[REGISTER_SP] = SP;
	value[REGISTER_PC] = CODE;
}

static bool is_known(u32 reg)
{
	return unwind.registers.known >> reg & 1;
}

/* --- tables --- */

/* The rule behind call frame instructions; the CIE says CFA = sp. */
static u32 run_rule(const u8 *bytes, u32 count)
{
	struct cfi *cfi = &unwind.cfi;
	u32 stop;

	begin();
	memcpy(memory, bytes, count);
	cfi->entry.cie = MEMORY_BASE;
	cfi->entry.code_alignment = 4;
	cfi->entry.data_alignment = -8;
	cfi->entry.row = (struct cfi_row){.cfa = {.how = CFI_OFFSET, .reg = REGISTER_SP}};
	cfi->row = cfi->entry.row;
	cfi->location = 0;
	cfi->pc = 100;
	cfi->next = 1000;
	stop = cfi_run_instructions(&unwind, MEMORY_BASE, MEMORY_BASE + count);
	return stop ? stop : cfi_rule(&unwind, &unwind.rule);
}

#define rule_of(...)                                                                               \
	({                                                                                         \
		static const u8 bytes[] = {__VA_ARGS__};                                           \
		run_rule(bytes, sizeof(bytes));                                                    \
	})

static void assert_rule(u32 reg, s32 offset, u32 base, u32 fp, u32 link)
{
	assert_int_equal(rule->cfa_kind, CFA_REGISTER);
	assert_int_equal(rule->cfa_register, reg);
	assert_int_equal(rule->cfa_offset, offset);
	assert_int_equal(rule->base, base);
	assert_int_equal(rule->slot[SLOT_FP], fp);
	assert_int_equal(rule->slot[SLOT_RETURN], link);
}

TEST(a_leaf_has_its_return_address_in_x30)
{
	assert_int_equal(rule_of(0x00), STOP_NONE);
	assert_rule(REGISTER_SP, 0, RULE_BASE_CFA, 0, 0);
	/* x19 alone is saved: the rule is the same */
	assert_int_equal(rule_of(0x0e, 16, 0x93, 2), STOP_NONE);
	assert_rule(REGISTER_SP, 16, RULE_BASE_CFA, 0, 0);
}

TEST(a_signed_return_address_changes_no_rule)
{
	/* negate_ra_state; def_cfa_offset 48; x29 at CFA-48, x30 at CFA-40 */
	assert_int_equal(rule_of(0x2d, 0x41, 0x0e, 48, 0x9d, 6, 0x9e, 5), STOP_NONE);
	assert_rule(REGISTER_SP, 48, RULE_BASE_CFA, 6, 5);
	assert_int_equal(rule_of(0x2c, 0x0c, 29, 48, 0x9d, 6, 0x9e, 5), STOP_NONE);
	assert_rule(REGISTER_FP, 48, RULE_BASE_CFA, 6, 5);
}

TEST(a_record_far_from_the_cfa_counts_from_its_register)
{
	/* 4096 bytes, with the record at the bottom */
	assert_int_equal(rule_of(0x0e, 0x80, 0x20, 0x9d, 0x80, 0x04, 0x9e, 0xff, 0x03), STOP_NONE);
	assert_rule(REGISTER_SP, 4096, REGISTER_SP, RULE_BASE_WORDS, RULE_BASE_WORDS - 1);
	/* the record is 16 bytes above sp */
	assert_int_equal(rule_of(0x0e, 0x80, 0x20, 0x9d, 0xfe, 0x03, 0x9e, 0xfd, 0x03), STOP_NONE);
	assert_rule(REGISTER_SP, 4096, REGISTER_SP, RULE_BASE_WORDS - 2, RULE_BASE_WORDS - 3);
	/* in the middle of the frame: no rule */
	assert_int_equal(rule_of(0x0e, 0x80, 0x40, 0x9d, 0x80, 0x04, 0x9e, 0xff, 0x03),
			 STOP_UNSUPPORTED);
}

/* glibc's _dl_runtime_resolve: the stub before it has pushed 16 bytes, with x30 in the upper word.
 */
TEST(x30_above_the_cfa)
{
	assert_int_equal(rule_of(0x11, 30, 0x7f), STOP_NONE);
	assert_rule(REGISTER_SP, 16, REGISTER_SP, 0, RULE_BASE_WORDS - 1);
	/* behind its own instruction that pushes 208 bytes */
	assert_int_equal(rule_of(0x0e, 0xd0, 0x01, 0x11, 30, 0x7f), STOP_NONE);
	assert_rule(REGISTER_SP, 208 + 16, REGISTER_SP, 0, RULE_BASE_WORDS - 27);
	/* setcontext(): x30 is in the context that is restored, and the CFA is right */
	assert_int_equal(rule_of(0x0e, 96, 0x11, 30, 0x75), STOP_NONE);
	assert_rule(REGISTER_SP, 96, REGISTER_SP, 0, RULE_BASE_WORDS - 23);
}

TEST(numbers_that_have_no_register_here_define_no_cfa)
{
	assert_int_equal(rule_of(0x0c, 17, 16), STOP_UNSUPPORTED);
	assert_int_equal(rule_of(0x0c, 64, 16), STOP_UNSUPPORTED);
	assert_int_equal(rule_of(0x0c, 0, 16), STOP_NONE);
	/* vector registers, and the vector length, are saved without effect */
	assert_int_equal(rule_of(0x05, 72, 2, 0x05, 46, 3), STOP_NONE);
	assert_rule(REGISTER_SP, 0, RULE_BASE_CFA, 0, 0);
}

TEST(an_undefined_x30_is_the_end)
{
	assert_int_equal(rule_of(0x07, 30), STOP_NONE);
	assert_int_equal(rule->flags, RULE_OUTERMOST);
}

/* --- steps --- */

static u32 step(const struct unwind_rule *made)
{
	unwind.rule = *made;
	return unwind_step(&unwind);
}

static const struct unwind_rule leaf = {.cfa_register = REGISTER_SP, .base = RULE_BASE_CFA};
static const struct unwind_rule framed = {.cfa_register = REGISTER_SP,
					  .cfa_offset = 48,
					  .base = RULE_BASE_CFA,
					  .slot = {[SLOT_FP] = 6, [SLOT_RETURN] = 5}};

static void record_put(u64 at, u64 fp, u64 link)
{
	memory[(at - MEMORY_BASE) / 8] = fp;
	memory[(at - MEMORY_BASE) / 8 + 1] = link;
}

TEST(x30_counts_in_the_interrupted_frame_alone)
{
	begin();
	value[REGISTER_FP] = SP;
	value[REGISTER_LINK] = SIGNED(CODE + 100);
	record_put(SP, SP + 48, SIGNED(CODE + 200));
	assert_int_equal(step(&leaf), STOP_NONE);
	assert_int_equal(value[REGISTER_PC], CODE + 100);
	assert_int_equal(value[REGISTER_SP], SP);
	assert_true(is_known(REGISTER_FP));
	assert_false(is_known(REGISTER_LINK));
	assert_false(is_known(19));
	assert_int_equal(step(&framed), STOP_NONE);
	assert_int_equal(value[REGISTER_PC], CODE + 200);
	assert_int_equal(value[REGISTER_SP], SP + 48);
	assert_int_equal(value[REGISTER_FP], SP + 48);
	assert_int_equal(step(&leaf), STOP_NO_PROGRESS);
}

/* x29 may be any number where a program keeps no frame pointers: it is no end of the stack. */
TEST(a_register_that_has_a_tag_alone_is_not_zero)
{
	begin();
	record_put(SP, TAG_ALONE, 0);
	assert_int_equal(step(&framed), STOP_NULL_RETURN);
	assert_int_equal(value[REGISTER_FP], TAG_ALONE);
	begin();
	record_put(SP, 0, 0);
	assert_int_equal(step(&framed), STOP_ROOT);
}

TEST(slots_count_from_a_base)
{
	const struct unwind_rule far = {.cfa_register = REGISTER_SP,
					.cfa_offset = 4096,
					.base = REGISTER_SP,
					.slot = {RULE_BASE_WORDS, RULE_BASE_WORDS - 1}};

	begin();
	record_put(SP, 7, SIGNED(CODE + 200));
	assert_int_equal(step(&far), STOP_NONE);
	assert_int_equal(value[REGISTER_PC], CODE + 200);
	assert_int_equal(value[REGISTER_FP], 7);
	assert_int_equal(value[REGISTER_SP], SP + 4096);
}

TEST(a_frame_pointer_loses_sp_and_the_next_record_finds_the_cfa_again)
{
	const struct unwind_rule pointer = {.cfa_register = REGISTER_FP,
					    .cfa_offset = 16,
					    .base = RULE_BASE_CFA,
					    .flags = RULE_FRAME_POINTER,
					    .slot = {2, 1}};

	begin();
	value[REGISTER_FP] = SP + 32;
	record_put(SP + 32, SP + 128, CODE + 100);
	record_put(SP + 128, SP + 400, CODE + 200);
	assert_int_equal(step(&pointer), STOP_NONE);
	assert_false(is_known(REGISTER_SP));
	assert_int_equal(value[REGISTER_FP], SP + 128);
	assert_int_equal(step(&framed), STOP_NONE);
	assert_true(is_known(REGISTER_SP));
	assert_int_equal(value[REGISTER_SP], SP + 128 + 48);
	assert_int_equal(value[REGISTER_PC], CODE + 200);
}

/* --- code without tables --- */

/* The rule at instruction `at` of some code. */
static void code_at(const u32 *code, u32 count, u32 at, bool is_interrupted)
{
	begin();
	unwind.mapping.image = MEMORY_BASE;
	memcpy((u8 *)memory + (CODE - MEMORY_BASE), code, 4 * count);
	value[REGISTER_PC] = CODE + 4 * at;
	unwind.is_interrupted = is_interrupted;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
}

static void assert_pointer(void)
{
	assert_rule(REGISTER_FP, 16, RULE_BASE_CFA, 2, 1);
	assert_int_equal(rule->flags, RULE_FRAME_POINTER);
}

static void assert_proven(s32 offset, u32 fp, u32 link)
{
	assert_rule(REGISTER_SP, offset, RULE_BASE_CFA, fp, link);
	assert_int_equal(rule->flags, 0);
}

TEST(first_and_last_instructions_of_functions)
{
	static const u32 code[] = {PACIASP, STP_48, MOV_SP_FP, NOP, LDP_48, AUTIASP, RET};

	code_at(code, 7, 0, true);
	assert_proven(0, 0, 0);
	code_at(code, 7, 0, false);
	assert_pointer();
	code_at(code, 7, 1, true);
	assert_proven(0, 0, 0);
	code_at(code, 7, 2, true);
	assert_proven(48, 6, 5);
	code_at(code, 7, 3, true);
	assert_pointer();
	code_at(code, 7, 4, false);
	assert_proven(48, 6, 5);
	code_at(code, 7, 6, true);
	assert_proven(0, 0, 0);
}

TEST(stubs_of_the_linkage_table)
{
	static const u32 plt0[] = {STP_X16_LINK, 0x90000110, 0xf947fe11, 0x913fe210, 0xd61f0220};
	static const u32 plt[] = {BTI_C, 0x90000110, 0xf947fe11, 0x913fe210, 0xd61f0220};

	for (u32 i = 0; i < 5; i++) {
		code_at(plt, 5, i, true);
		assert_proven(0, 0, 0);
		code_at(plt0, 5, i, true);
		assert_proven(i ? 16 : 0, 0, i ? 1 : 0);
	}
}

TEST(the_signal_trampoline_leads_to_the_interrupted_registers)
{
	static const u32 code[] = {NOP, MOV_139_X8, SVC, NOP};
	u64 *saved = &memory[(SP + 128 + 176 + 8 - MEMORY_BASE) / 8];

	for (u32 at = 1; at <= 3; at++) {
		code_at(code, 4, at, at != 1);
		for (u32 i = 0; i < 31; i++)
			saved[i] = 0x1000 + i;
		saved[29] = at == 1 ? TAG_ALONE : TAGGED(saved[29]);
		saved[31] = TAGGED(SP + 1024);
		saved[32] = CODE + 80;
		assert_int_equal(step(&unwind.rule), STOP_NONE);
		assert_int_equal(value[REGISTER_PC], CODE + 80);
		assert_int_equal(value[REGISTER_SP], SP + 1024);
		assert_int_equal(value[REGISTER_LINK], 0x1000 + 30);
		assert_int_equal(value[REGISTER_FP], at == 1 ? TAG_ALONE : 0x1000 + 29);
		assert_int_equal(value[0], 0x1000);
		assert_int_equal(value[REGISTER_CODE_MASK], MASK);
		assert_true(unwind.is_interrupted && is_known(REGISTER_LINK));
	}
}

/* --- the search --- */

#define FUNCTION (CODE + 64) /* contains the pc */
#define PC (FUNCTION + 32)
#define CALLER (CODE + 400)	/* behind bl FUNCTION */
#define OUTER (CODE + 500)	/* behind bl of a function in front of FUNCTION */
#define BY_POINTER (CODE + 600) /* behind blr */
#define OWN (PC - 8)		/* behind a call of a helper, in FUNCTION */

static void word_put(u64 at, u32 code)
{
	memcpy((u8 *)memory + (at - MEMORY_BASE), &code, sizeof(code));
}

static u64 mapping_end; /* of the pc's mapping, which begins at CODE; 0: not known */
static bool is_vdso;	/* this mapping is the vdso */

/* Searches with these return addresses; without a frame pointer if `pointer`, its distance from sp,
 * is 0. */
static u32 find(u64 link, u64 pointer, u64 record_link, bool is_interrupted)
{
	struct return_search *search = &unwind.returns;

	begin();
	word_put(CALLER - 4, BL(CALLER - 4, FUNCTION));
	word_put(OUTER - 4, BL(OUTER - 4, CODE));
	word_put(OWN - 4, BL(OWN - 4, CODE + 32));
	word_put(BY_POINTER - 4, BLR_X1);
	value[REGISTER_PC] = PC;
	value[REGISTER_LINK] = SIGNED(link);
	value[REGISTER_FP] = pointer ? SP + pointer : 0;
	if (pointer)
		record_put(SP + pointer, SP + 800, SIGNED(record_link));
	unwind.rule.flags = RULE_FRAME_POINTER;
	search->flags = RULE_FRAME_POINTER;
	search->word = 8;
	search->is_interrupted = is_interrupted;
	search->mapping_start = mapping_end ? CODE : 0;
	search->mapping_end = mapping_end;
	search->is_vdso = is_vdso;
	return_search_set_registers(search, &unwind.registers);
	for (u32 i = 0; return_search_choose_word(search, i); i++) {
		assert_true(unwind_peek(&unwind, search->address, &search->value, 8));
		if (return_search_may_be_return_address(search) &&
		    unwind_peek(&unwind, search->value - 8, &search->before, 8))
			return_search_check_code_before(search);
	}
	unwind.rule = (struct unwind_rule){.cfa_register = REGISTER_FP};
	return return_search_make_rule(search, &unwind.rule);
}

static void assert_found(u32 reg, bool is_guess)
{
	assert_int_equal(rule->cfa_register, reg);
	assert_int_equal(unwind.returns.is_guess, is_guess);
}

TEST(calls_prove_where_the_return_address_is)
{
	/* a leaf: x29 is the caller's */
	assert_int_equal(find(CALLER, 64, OUTER, true), STOP_NONE);
	assert_found(REGISTER_SP, false);
	/* behind a call of its own, the frame record is the function's */
	assert_int_equal(find(OWN, 64, CALLER, true), STOP_NONE);
	assert_found(REGISTER_FP, false);
	/* x30 of a frame that has called is old */
	assert_int_equal(find(CALLER, 64, CALLER, false), STOP_NONE);
	assert_found(REGISTER_FP, false);
	assert_int_equal(find(0, 64, BY_POINTER, false), STOP_NONE);
	assert_found(REGISTER_FP, true);
	assert_int_equal(find(BY_POINTER, 0, 0, true), STOP_NONE);
	assert_found(REGISTER_SP, true);
	assert_int_equal(find(0, 0, 0, false), STOP_ROOT);
}

TEST(any_call_in_another_mapping_proves_the_caller_of_the_vdso_alone)
{
	for (u32 i = 0; i < 2; i++) {
		is_vdso = i;
		mapping_end = CALLER;
		assert_int_equal(find(BY_POINTER, 64, CALLER, true), STOP_NONE);
		assert_found(REGISTER_SP, !is_vdso);
		assert_int_equal(find(OUTER, 64, CALLER, true), STOP_NONE);
		assert_found(REGISTER_SP, !is_vdso);
		/* the frame record is the function's own */
		assert_int_equal(find(BY_POINTER, 64, BY_POINTER, true), STOP_NONE);
		assert_found(REGISTER_FP, !is_vdso);
		/* the function has made a call */
		assert_int_equal(find(OWN, 64, CALLER, true), STOP_NONE);
		assert_found(REGISTER_FP, false);
		mapping_end = BY_POINTER + 4;
		assert_int_equal(find(BY_POINTER, 64, BY_POINTER, true), STOP_NONE);
		assert_found(REGISTER_FP, true);
	}
	mapping_end = is_vdso = 0;
}

/* A leaf may have moved sp for its variables, so that its caller's frame begins further up. */
TEST(a_proof_of_x30_says_nothing_of_sp)
{
	const struct unwind_rule recordless = {.cfa_register = REGISTER_SP,
					       .cfa_offset = 32,
					       .base = RULE_BASE_CFA,
					       .slot = {[SLOT_RETURN] = 1}};

	for (u32 i = 0; i < 2; i++) {
		u64 link = i ? BY_POINTER : CALLER;

		is_vdso = i;
		mapping_end = i ? CALLER : 0;
		find(link, 64, OUTER, true);
		assert_int_equal(unwind_step(&unwind), STOP_NONE);
		assert_int_equal(value[REGISTER_PC], link);
		assert_false(is_known(REGISTER_SP));
		assert_int_equal(step(&framed), STOP_NONE);
		assert_int_equal(value[REGISTER_PC], OUTER);
		assert_int_equal(value[REGISTER_SP], SP + 64 + 48);
		find(link, 64, OUTER, true);
		assert_int_equal(unwind_step(&unwind), STOP_NONE);
		assert_int_equal(step(&recordless), STOP_UNKNOWN_REGISTER);
	}
	mapping_end = is_vdso = 0;
}

TEST(sp_counts_as_unmoved_at_an_entry_and_after_a_guess)
{
	find(BY_POINTER, 0, 0, true);
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_true(is_known(REGISTER_SP));
	find(BY_POINTER, 64, OUTER, true);
	unwind.registers.at_entry = 1;
	return_search_set_registers(&unwind.returns, &unwind.registers);
	return_search_make_rule(&unwind.returns, &unwind.rule);
	assert_found(REGISTER_SP, false);
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_true(is_known(REGISTER_SP));
}

/* --- both walks --- */

static void cache_rule_of_pc(u64 pc, bool is_interrupted, const struct unwind_rule *made)
{
	builder.registers.value[REGISTER_PC] = pc;
	builder.is_interrupted = is_interrupted;
	builder.granule = 1;
	rule_keep(made);
}

TEST(the_direct_walk_gives_the_same_stack)
{
	const struct unwind_rule far = {.cfa_register = REGISTER_SP,
					.cfa_offset = 4096,
					.base = REGISTER_SP,
					.slot = {RULE_BASE_WORDS, RULE_BASE_WORDS - 1}};
	const struct unwind_rule by_fp = {.cfa_register = REGISTER_FP,
					  .cfa_offset = 32,
					  .base = RULE_BASE_CFA,
					  .slot = {4, 3}};
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};
	const u64 caller = SP, next = SP + 48, last = SP + 48 + 4096;

	begin();
	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	cache_rule_of_pc(CODE, true, &leaf);
	cache_rule_of_pc(CODE + 4, false, &framed);
	cache_rule_of_pc(CODE + 8, false, &far);
	cache_rule_of_pc(CODE + 12, false, &by_fp);
	cache_rule_of_pc(CODE + 16, false, &outermost);
	value[REGISTER_LINK] = SIGNED(CODE + 4);
	record_put(caller, TAGGED(next), SIGNED(CODE + 8));
	record_put(next, TAGGED(last), SIGNED(TAGGED(CODE + 12)));
	record_put(last, 0, SIGNED(CODE + 16));
	walk = (struct direct_walk){.registers = unwind.registers, .max_depth = 100};
	direct_walk(&direct);
	assert_int_equal(unwind_stack(&unwind, 100), 5);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_int_equal(walk.stop, STOP_ROOT);
	assert_true(walk.is_final);
	assert_int_equal(stack.depth, 5);
	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(unwind.frame[i], CODE + 4 * i);
		assert_int_equal(stack.word[i], frame_of_walk(unwind.frame[i]));
	}
	memory_rules = NULL;
	memory_image = 0;
}

/* --- Go's stacks --- */

/* Code runs on the scheduler's stack. x28 has g0, which leads to its m, to the goroutine, and to
 * the goroutine's saved sp: there lies the frame of the function that has changed stacks, with 16
 * bytes. CALLER called this function. */
#define GO_FRAME 1000 /* number of the word that the saved sp points to */

static const struct unwind_rule go_saved = {
	.cfa_kind = CFA_GO_SAVED,
	.cfa_register = REGISTER_SP,
	.cfa_offset = 48,
	.operand = 2,
	.base = RULE_BASE_CFA,
	.slot = {[SLOT_FP] = 3, [SLOT_RETURN] = 2, [GO_SLOT_GOROUTINE] = 4, [GO_SLOT_STACK] = 7}};

/* The rule of morestack(). */
static const struct unwind_rule go_growth = {.cfa_kind = CFA_GO_SAVED,
					     .cfa_register = REGISTER_SP,
					     .cfa_offset = 48,
					     .base = RULE_BASE_CFA,
					     .flags = RULE_SIGNAL,
					     .slot = {[SLOT_FP] = 3,
						      [SLOT_RETURN] = 2,
						      [GO_SLOT_GOROUTINE] = 4,
						      [GO_SLOT_STACK] = 7,
						      [GO_SLOT_RBP] = 12}};

static void make_scheduler_stack(void)
{
	begin();
	value[REGISTER_GOROUTINE] = WORD(300);
	memory[300 + 6] = WORD(320);
	memory[320] = WORD(300);
	memory[320 + 4] = WORD(340);
	memory[340 + 7] = WORD(GO_FRAME);
	memory[GO_FRAME - 1] = WORD(1100);
	memory[GO_FRAME] = CALLER;
	word_put(CALLER - 4, BL(CALLER - 4, CODE));
	unwind.switches = (struct stack_switches){.entered = SP};
}

/* The goroutine has saved pc, x30 and x29 in morestack(). */
static void make_growing_stack(void)
{
	make_scheduler_stack();
	memory[340 + 8] = CALLER;
	memory[340 + 11] = CODE + 600;
	memory[340 + 12] = WORD(1200);
}

TEST(x28_leads_from_the_schedulers_stack_to_the_goroutine)
{
	make_scheduler_stack();
	assert_int_equal(step(&go_saved), STOP_NONE);
	assert_int_equal(value[REGISTER_SP], WORD(GO_FRAME + 2));
	assert_int_equal(value[REGISTER_PC], CALLER);
	assert_int_equal(value[REGISTER_FP], WORD(1100));
	assert_int_equal(value[REGISTER_GOROUTINE], WORD(340));
	assert_int_equal(unwind.registers.known,
			 1U << REGISTER_SP | 1U << REGISTER_PC | 1U << REGISTER_FP);

	make_scheduler_stack();
	word_put(CALLER - 4, NOP);
	assert_int_equal(step(&go_saved), STOP_NO_PROGRESS);
	make_scheduler_stack();
	memory[320 + 4] = 0;
	assert_int_equal(step(&go_saved), STOP_ROOT);
	make_scheduler_stack();
	value[REGISTER_GOROUTINE] = 1; /* C code has changed x28 */
	assert_int_equal(step(&go_saved), STOP_UNKNOWN_REGISTER);
	make_scheduler_stack();
	value[REGISTER_GOROUTINE] = WORD(301); /* readable words, most of them 0 */
	memory[301 + 6] = WORD(400);
	assert_int_equal(step(&go_saved), STOP_UNKNOWN_REGISTER);
}

/* Steps within the scheduler's stack keep x28, and a signal's registers have another one. */
TEST(x28_is_kept_from_the_event_on)
{
	const struct unwind_rule signal = {.cfa_kind = CFA_SIGNAL,
					   .cfa_register = REGISTER_SP,
					   .base = RULE_BASE_CFA,
					   .flags = RULE_SIGNAL};

	begin();
	value[REGISTER_GOROUTINE] = 77;
	record_put(SP, SP + 48, CODE + 200);
	assert_int_equal(step(&framed), STOP_NONE);
	assert_int_equal(value[REGISTER_GOROUTINE], 77);
	memory[(SP + 48 + UCONTEXT_GENERAL - MEMORY_BASE) / 8 + REGISTER_GOROUTINE] = 78;
	memory[(SP + 48 + UCONTEXT_PC - MEMORY_BASE) / 8] = CODE;
	assert_int_equal(step(&signal), STOP_NONE);
	assert_int_equal(value[REGISTER_GOROUTINE], 78);
}

/* morestack(): the goroutine's pc, sp, x30 and x29. The caller has no frame yet. */
TEST(a_goroutine_whose_stack_grows_has_saved_its_registers)
{
	make_growing_stack();
	assert_int_equal(step(&go_growth), STOP_NONE);
	assert_int_equal(value[REGISTER_SP], WORD(GO_FRAME));
	assert_int_equal(value[REGISTER_PC], CALLER);
	assert_int_equal(value[REGISTER_FP], WORD(1200));
	assert_int_equal(step(&leaf), STOP_NONE);
	assert_int_equal(value[REGISTER_PC], CODE + 600);
	assert_int_equal(value[REGISTER_SP], WORD(GO_FRAME));

	make_scheduler_stack();
	unwind.registers.known &= ~(1U << REGISTER_FP); /* lost in the scheduler */
	assert_int_equal(step(&go_growth), STOP_UNKNOWN_REGISTER);
}

/* asmcgocall() has noted the goroutine, and how far its sp lay below the end of the stack. */
TEST(c_code_comes_back_by_a_depth)
{
	const struct unwind_rule by_depth = {.cfa_kind = CFA_GO_DEPTH,
					     .cfa_register = REGISTER_SP,
					     .operand = 2,
					     .base = RULE_BASE_CFA,
					     .slot = {[SLOT_FP] = 3,
						      [SLOT_RETURN] = 2,
						      [GO_SLOT_STACK] = 1,
						      [GO_SLOT_DEPTH] = 1}};

	make_scheduler_stack();
	value[REGISTER_GOROUTINE] = 1;
	record_put(SP, WORD(340), 8 * 50);
	memory[340 + 1] = WORD(GO_FRAME + 50);
	assert_int_equal(step(&by_depth), STOP_NONE);
	assert_int_equal(value[REGISTER_SP], WORD(GO_FRAME + 2));
	assert_int_equal(value[REGISTER_PC], CALLER);
	assert_int_equal(value[REGISTER_FP], WORD(1100));
	assert_int_equal(value[REGISTER_GOROUTINE], WORD(340));

	make_scheduler_stack();
	record_put(SP, WORD(340), 8 * 50);
	memory[340 + 1] = WORD(GO_FRAME + 50);
	unwind.registers.known &= ~(1U << REGISTER_SP);
	assert_int_equal(step(&by_depth), STOP_UNKNOWN_REGISTER);
}

TEST(both_walks_cross_the_stacks_of_go)
{
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};

	make_growing_stack();
	memset(&steps, 0, sizeof(steps));
	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	cache_rule_of_pc(CODE, true, &go_growth);
	cache_rule_of_pc(CALLER, true, &leaf);
	cache_rule_of_pc(CODE + 600, false, &outermost);
	walk = (struct direct_walk){.registers = unwind.registers, .max_depth = 100};
	direct_walk(&direct);
	assert_int_equal(unwind_stack(&unwind, 100), 3);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_int_equal(walk.stop, STOP_ROOT);
	assert_int_equal(stack.depth, 3);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(stack.word[i], frame_of_walk(unwind.frame[i]));
	memory_rules = NULL;
	memory_image = 0;
}

TEST(the_callback_finds_the_caller_of_a_leaf_that_has_moved_sp)
{
	const struct unwind_rule pointer = {.cfa_register = REGISTER_FP,
					    .cfa_offset = 16,
					    .base = RULE_BASE_CFA,
					    .flags = RULE_FRAME_POINTER,
					    .slot = {2, 1}};
	const struct unwind_rule outermost = {.flags = RULE_OUTERMOST};

	find(CALLER, 64, OUTER, true);
	memory_rules = &rules;
	memory_image = MEMORY_BASE;
	cache_rule_of_pc(PC, true, &pointer);
	cache_rule_of_pc(CALLER, false, &framed);
	cache_rule_of_pc(OUTER, false, &outermost);
	walk = (struct direct_walk){.registers = unwind.registers, .max_depth = 100};
	direct_walk(&direct);
	assert_int_equal(walk.stop, STOP_UNKNOWN_REGISTER);
	assert_false(walk.is_final);
	assert_int_equal(unwind_stack(&unwind, 100), 3);
	assert_int_equal(unwind.stop, STOP_ROOT);
	assert_int_equal(unwind.frame[1], CALLER);
	assert_int_equal(unwind.frame[2], OUTER);
	memory_rules = NULL;
	memory_image = 0;
}

TEST(a_direct_walk_does_not_end_the_stack_at_a_tag_alone)
{
	for (u32 i = 0; i < 2; i++) {
		begin();
		memory_rules = &rules;
		memory_image = MEMORY_BASE;
		value[REGISTER_PC] = CODE + 32;
		cache_rule_of_pc(CODE + 32, true, &framed);
		record_put(SP, i ? TAG_ALONE : 0, 0);
		walk = (struct direct_walk){.registers = unwind.registers, .max_depth = 100};
		direct_walk(&direct);
		assert_int_equal(stack.depth, 1);
		assert_int_equal(walk.stop, i ? STOP_NOT_CODE : STOP_ROOT);
	}
	memory_rules = NULL;
	memory_image = 0;
}

/* Registers and code that would lead to a caller in a 64-bit task. */
TEST(a_stack_of_32_bit_code_has_one_frame)
{
	begin();
	*(u32 *)(memory + (CODE - MEMORY_BASE)) = RET;
	value[REGISTER_LINK] = CODE + 4;
	value[REGISTER_FP] = SP;
	record_put(SP, 0, CODE + 8);
	unwind.registers.known = REGISTERS_ALL;
	walk = (struct direct_walk){
		.registers = unwind.registers, .max_depth = 100, .is_compat = true};
	assert_true(unwind_stack(&unwind, 100) > 1);
	unwind.registers = walk.registers;
	unwind.is_compat = true;
	assert_int_equal(unwind_stack(&unwind, 100), 1);
	assert_int_equal(unwind.stop, STOP_UNSUPPORTED);
	assert_int_equal(unwind.frame[0], CODE);
	direct_walk(&direct);
	assert_int_equal(walk.stop, STOP_UNSUPPORTED);
	assert_false(walk.is_final);
	unwind.is_compat = false;
}
