/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Most callee-saved registers are saved in the few words below the CFA, with the return address:
 * one read gets all of them. 32-bit tasks have words of four bytes and frame pointers only.
 */
#include "go_stack.h"
#include "script_marks.h"
#include "stack_switch.h"
#include "unwind.h"

#define KNOWN(reg) (1U << (reg))

/* The registers of a rule's slots, eight bits each. */
#define REGISTER_OF_SLOT(slot, reg) | (u64)(reg) << 8 * (slot)
#define REGISTERS_OF_SLOTS                                                                         \
	((u64)REGISTER_PC << 8 * SLOT_RETURN EACH_SAVED_REGISTER(REGISTER_OF_SLOT))

CORE_PART bool get_known_register(const struct unwind_registers *registers, u32 reg, u64 *value)
{
	core_one_register(reg);
	reg &= REGISTER_SLOTS - 1;
	*value = registers->value[reg];
	return registers->known >> reg & 1;
}

CORE_PART void set_known_register(struct unwind_registers *registers, u32 reg, u64 value)
{
	core_one_register(reg);
	reg &= REGISTER_SLOTS - 1;
	registers->value[reg] = value;
	registers->known |= KNOWN(reg);
}

CORE_PART bool read_stack_word(struct unwind *unwind, u64 address, u64 *value)
{
	unwind->word = 0;
	if (!unwind_fetch(unwind, address, &unwind->word, unwind->is_compat ? 4 : 8))
		return false;
	*value = unwind->word;
	return true;
}

/*
 * True if rax, which a call may change, leads to the CFA of a frame that has made a call.
 * Hand-written code (libcrypto) keeps its caller's rsp in rax, and calls helpers that leave rax
 * unchanged. rax is accepted if the word below the CFA proves it: a return address directly after a
 * call of the frame's function, at most STACK_SWITCH_BYTES above rsp.
 */
CORE_GLOBAL_PART int is_result_register_proven(struct unwind *unwind)
{
	struct return_search *search;
	u64 cfa;

	if (core_is_null(unwind))
		return false;
	search = &unwind->returns;
	search->pc = unwind->registers.value[REGISTER_PC];
	cfa = unwind->registers.value[REGISTER_RESULT] + unwind->rule.cfa_offset;
	return unwind->rule.cfa_register == REGISTER_RESULT &&
	       unwind->rule.cfa_kind == CFA_REGISTER &&
	       !is_step_to_other_stack(unwind->registers.value[REGISTER_SP], cfa) &&
	       unwind_peek(unwind, cfa - 8 * unwind->rule.slot[SLOT_RETURN], &search->value, 8) &&
	       unwind_peek(unwind, search->value - 8, &search->before, 8) &&
	       return_search_is_after_own_call(search);
}

CORE_PART u32 compute_indexed_cfa(const struct unwind *unwind, const struct unwind_rule *rule,
				  u64 *cfa)
{
	u64 index;

	if (rule->cfa_kind != CFA_DEREF_INDEX)
		return STOP_NONE;
	if (!get_known_register(&unwind->registers, rule->base, &index))
		return STOP_UNKNOWN_REGISTER;
	*cfa += 8 * index;
	return STOP_NONE;
}

CORE_PART u32 compute_cfa(struct unwind *unwind, const struct unwind_rule *rule, u64 *cfa)
{
	u64 ip = unwind->registers.value[REGISTER_PC];
	u32 stop;

	if (!get_known_register(&unwind->registers, rule->cfa_register, cfa) &&
	    !recover_cfa_register(&unwind->registers, rule, cfa) &&
	    (!RESULT_MAY_BE_CFA || !is_result_register_proven(unwind)))
		return STOP_UNKNOWN_REGISTER;
	*cfa += rule->cfa_offset;
	if (rule->cfa_kind == CFA_PLT && (ip & 15) >= rule->operand)
		*cfa += 8;
	if (rule->cfa_kind != CFA_DEREF && rule->cfa_kind != CFA_DEREF_INDEX)
		return STOP_NONE;
	stop = compute_indexed_cfa(unwind, rule, cfa);
	if (stop)
		return stop;
	if (!read_stack_word(unwind, *cfa, cfa))
		return stop_reason_of_failed_stack_read(unwind);
	*cfa += 8 * rule->operand;
	return STOP_NONE;
}

/* The slot that lies farthest below the base, in words, among the slots of a rule that one read can
 * cover. */
CORE_GLOBAL_PART u32 largest_slot_of_rule(const struct unwind_rule *rule)
{
	u64 deepest = 1;

	if (core_is_null(rule))
		return 0;
	for (u32 i = 0; i < SLOT_COUNT; i++) {
		u64 slot = rule->slot[i];

		deepest += (is_below(deepest, slot) & is_below(slot, STEP_WORDS + 1)) *
			   (slot - deepest);
	}
	return deepest;
}

/*
 * Reads the saved words below a base in one read: saved[saved_count - n] is the word n words below
 * the base.
 */
CORE_PART bool read_saved_words(struct unwind *unwind, const struct unwind_rule *rule, u64 base)
{
	u32 words = largest_slot_of_rule(rule);

	core_one_register(words);
	if (words == 0 || words > STEP_WORDS)
		return false;
	if (core_reload(unwind->is_saved_ready) && unwind->saved_base == base &&
	    unwind->saved_count >= words)
		return true;
	unwind->saved_count = words;
	unwind->saved_base = base;
	return unwind_fetch(unwind, base - 8 * words, unwind->saved, 8 * words);
}

/*
 * Reads the word that lies `slot` words below a base: from the words that read_saved_words() has
 * read, or by a read of its own.
 */
CORE_PART bool read_saved_word(struct unwind *unwind, u64 base, u32 slot, u64 *value)
{
	u32 index = unwind->saved_count - slot;

	if (unwind->is_compat)
		return read_stack_word(unwind, base - 4 * slot, value);
	if (base != unwind->saved_base || index >= unwind->saved_count)
		return read_stack_word(unwind, base - 8 * slot, value);
	core_one_register(index);
	*value = unwind->saved[index & (STEP_WORDS - 1)];
	return true;
}

/*
 * Restores one register of the caller. In the last instructions of a function, a base register may
 * already hold the caller's value, which compilers do not describe in their tables: a word that is
 * unreadable is then treated as lost.
 */
static long restore_register_of_caller(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct slot_restore *restore = &unwind->restore;
	u32 reg = REGISTERS_OF_SLOTS >> (8 * i & 63) & 0xff;
	u32 from = RETURN_MAY_BE_IN_REGISTER && i == SLOT_RETURN ? REGISTER_LINK : reg;
	u64 base = i == SLOT_RETURN && !RETURN_IS_BELOW_BASE ? restore->cfa : restore->base;
	u64 value = 0;
	u32 slot;
	bool known;

	core_one_register(i);
	if (i >= SLOT_COUNT)
		return 1;
	slot = unwind->rule.slot[i];
	if (slot == SLOT_LOST) {
		known = false;
	} else if (slot >= SLOT_IN_REGISTER) {
		known = get_known_register(&unwind->registers, slot - SLOT_IN_REGISTER, &value);
	} else if (slot) {
		known = read_saved_word(unwind, base, slot, &value);
		if (!known && base == restore->cfa)
			restore->stop = stop_reason_of_failed_stack_read(unwind);
	} else {
		known = get_known_register(&unwind->registers, from, &value);
	}
	if (known)
		set_known_register(&unwind->caller, reg, value);
	return restore->stop != STOP_NONE;
}

CORE_PART u64 slots_base_address(const struct unwind *unwind, const struct unwind_rule *rule,
				 u64 cfa)
{
	u64 base = 0;

	if (rule->base == RULE_BASE_CFA || rule->cfa_kind == CFA_DEREF_INDEX)
		return cfa;
	get_known_register(&unwind->registers, rule->base, &base);
	return base + RULE_BASE_BYTES;
}

CORE_PART u32 restore_registers_of_caller(struct unwind *unwind, const struct unwind_rule *rule,
					  u64 cfa)
{
	u64 base = slots_base_address(unwind, rule, cfa);

	unwind->restore = (struct slot_restore){.cfa = cfa, .base = base};
	unwind->caller.known = 0;
	unwind->caller.value[REGISTER_RESULT] = unwind->registers.value[REGISTER_RESULT];
	/* If no register is saved on the stack, all registers of the caller are still in registers.
	 */
	if (!unwind->is_compat &&
	    ((RETURN_MAY_BE_IN_REGISTER && !rule->slot[SLOT_RETURN] && !rule->slot[SLOT_FP]) ||
	     !read_saved_words(unwind, rule, base)))
		unwind->saved_count = 0;
	core_rare_loop(SLOT_COUNT, restore_register_of_caller, &unwind);
	return unwind->restore.stop;
}

CORE_OUTLINED u32 step_over_signal_frame(struct unwind *unwind)
{
	const struct unwind_rule *rule = &unwind->rule;
	u64 ucontext;

	if (!get_known_register(&unwind->registers, rule->cfa_register, &ucontext))
		return STOP_UNKNOWN_REGISTER;
	ucontext += rule->cfa_offset;
	if (!unwind_fetch(unwind, ucontext + UCONTEXT_GENERAL, unwind->context,
			  sizeof(unwind->context)))
		return stop_reason_of_failed_stack_read(unwind);
	set_signal_registers(unwind->context, &unwind->caller);
	unwind->switches.entered = unwind->caller.value[REGISTER_SP];
	return STOP_NONE;
}

/*
 * True if the return address that is saved below the CFA follows a call, or if the rule says that
 * the caller was interrupted.
 */
CORE_PART bool is_frame_after_call(struct unwind *unwind, const struct unwind_rule *rule, u64 cfa)
{
	struct return_search *search = &unwind->returns;

	return rule->flags & RULE_SIGNAL ||
	       (unwind_peek(unwind, cfa - 8 * rule->slot[SLOT_RETURN], &search->value, 8) &&
		unwind_peek(unwind, strip_code_signature(&unwind->registers, search->value) - 8,
			    &search->before, 8) &&
		is_after_call(search->before));
}

/* Checks a step whose caller_rsp is not within STACK_SWITCH_BYTES above rsp. caller_rsp may be rsp
 * itself if the frame was interrupted with its return address in a register; else it must lie on
 * another stack. */
CORE_GLOBAL_PART int check_far_step(struct unwind *unwind, u64 cfa, u64 caller_rsp)
{
	const struct unwind_rule *rule;
	u64 rsp;

	if (core_is_null(unwind))
		return STOP_NO_PROGRESS;
	rule = &unwind->rule;
	rsp = unwind->registers.value[REGISTER_SP];
	if (caller_rsp == rsp)
		return unwind->is_interrupted ? STOP_NONE : STOP_NO_PROGRESS;
	if (caller_rsp < rsp && (rule->flags & (RULE_FRAME_POINTER | RULE_STACK_MOVED) ||
				 unwind->is_compat || !is_frame_after_call(unwind, rule, cfa)))
		return STOP_NO_PROGRESS;
	return check_stack_switch(&unwind->switches, rsp, caller_rsp,
				  least_distance_of_other_stack(rule->flags))
		       ? STOP_NONE
		       : STOP_NO_PROGRESS;
}

/* The CFA and caller_rsp are checked at every step, whatever the table says. */
CORE_PART u32 check_cfa_and_caller_rsp(struct unwind *unwind, u64 cfa, u64 caller_rsp)
{
	if (caller_rsp & (unwind->is_compat ? 3 : 7))
		return STOP_UNALIGNED;
	return is_step_to_other_stack(unwind->registers.value[REGISTER_SP], caller_rsp)
		       ? check_far_step(unwind, cfa, caller_rsp)
		       : STOP_NONE;
}

/*
 * Records the frame of an interpreter's loop, whose script frames are read later. The CFA of a
 * guessed frame may be wrong, so such a frame is not recorded. A frame deeper than
 * STACK_USER_DEPTH_MAX is not recorded either: such a stack keeps its native frames.
 */
CORE_GLOBAL_PART int record_interpreter_loop_frame(struct unwind *unwind, u64 cfa)
{
	struct script_mark *mark;
	u32 index;

	if (core_is_null(unwind) || unwind->is_guessed)
		return 0;
	index = unwind->depth - 1;
	core_one_register(index);
	if (index >= STACK_USER_DEPTH_MAX)
		return 0;
	mark = script_marks_add(&unwind->scripts, index);
	if (!mark)
		return 0;
	mark->cfa = cfa;
	mark->pc = unwind->registers.value[REGISTER_PC];
	mark->place = unwind->frame[index];
	if (index && unwind->is_interrupted)
		mark->place -= FRAME_BEHIND_INTERRUPTED;
	if (!get_known_register(&unwind->registers, RULE_LOOP_FRAME(unwind->rule.operand),
				&mark->frame))
		mark->frame = 0;
	if (!get_known_register(&unwind->registers, RULE_LOOP_PLACE(unwind->rule.operand),
				&mark->code_place))
		mark->code_place = 0;
	return 0;
}

CORE_OUTLINED u32 step_to_caller_by_cfa(struct unwind *unwind)
{
	const struct unwind_rule *rule = &unwind->rule;
	u64 cfa = 0, rsp;
	u32 stop = compute_cfa(unwind, rule, &cfa);

	if (stop)
		return stop;
	rsp = cfa;
	if (rule->flags & RULE_STACK_MOVED &&
	    !get_known_register(&unwind->registers, rule->operand, &rsp))
		return STOP_UNKNOWN_REGISTER;
	stop = check_cfa_and_caller_rsp(unwind, cfa, rsp);
	if (stop)
		return stop;
	if (rule->cfa_kind == CFA_SCRIPT_LOOP)
		record_interpreter_loop_frame(unwind, cfa);
	stop = restore_registers_of_caller(unwind, rule, cfa);
	set_known_register(&unwind->caller, REGISTER_SP, rsp);
	return stop;
}

/* The stop reason if the return address is 0. */
CORE_GLOBAL_PART int stop_reason_of_null_return(const struct unwind *unwind)
{
	if (core_is_null(unwind) || unwind->rule.flags & (RULE_FRAME_POINTER | RULE_SIGNAL) ||
	    unwind->is_compat)
		return STOP_NULL_RETURN;
	return registers_have_no_caller(&unwind->registers) ? STOP_ROOT : STOP_NULL_RETURN;
}

CORE_PART long read_go_word(void *memory, u64 address, u64 *word)
{
	return !unwind_peek(memory, address, word, sizeof(*word));
}

/* Steps from Go's scheduler stack to the calling goroutine. */
CORE_GLOBAL_PART int step_to_goroutine(struct unwind *unwind)
{
	struct go_caller *found;
	u32 stop;

	if (core_is_null(unwind))
		return STOP_NO_RULE;
	found = &unwind->go;
	stop = go_caller_find(&unwind->rule, &unwind->registers, read_go_word, unwind, found);
	if (stop)
		return stop;
	if (!check_stack_switch(&unwind->switches, unwind->registers.value[REGISTER_SP], found->cfa,
				STACK_SWITCH_WORD))
		return STOP_NO_PROGRESS;
	unwind->caller.known = found->knows_rbp ? KNOWN(REGISTER_FP) : 0;
	unwind->caller.value[REGISTER_FP] = found->rbp;
	if (GOROUTINE_IS_IN_REGISTER) {
		unwind->caller.value[REGISTER_GOROUTINE] = found->goroutine;
		unwind->caller.value[REGISTER_LINK] = found->link;
		unwind->caller.known |= found->link ? KNOWN(REGISTER_LINK) : 0;
	}
	set_known_register(&unwind->caller, REGISTER_SP, found->cfa);
	set_known_register(&unwind->caller, REGISTER_PC, found->pc);
	return STOP_NONE;
}

CORE_SUBPROGRAM u32 unwind_step(struct unwind *unwind)
{
	const struct unwind_rule *rule = &unwind->rule;
	u32 stop;

	if (rule->flags & RULE_OUTERMOST)
		return STOP_ROOT;
	if (rule->cfa_kind == CFA_SIGNAL)
		stop = step_over_signal_frame(unwind);
	else if (rule->cfa_kind >= CFA_GO_SAVED)
		stop = step_to_goroutine(unwind);
	else
		stop = step_to_caller_by_cfa(unwind);
	if (stop)
		return stop;
	/* An unreadable word may have been treated as lost because the budget was spent. */
	if (!core_reload(unwind->budget))
		return STOP_BUDGET;
	if (!(unwind->caller.known & KNOWN(REGISTER_PC)))
		return STOP_UNKNOWN_REGISTER;
	complete_caller_registers(&unwind->caller, &unwind->registers, rule);
	unwind->registers = unwind->caller;
	unwind->is_interrupted = rule->flags & RULE_SIGNAL;
	return unwind->registers.value[REGISTER_PC] ? STOP_NONE
						    : stop_reason_of_null_return(unwind);
}
