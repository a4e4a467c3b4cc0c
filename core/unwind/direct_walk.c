/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame costs one lookup in the step cache and a few words of the window, a copy of a part of the
 * stack; one read fills the window for all frames in it. The common path has no branches: CFA =
 * register + offset, and all saved words lie in the window, below the CFA. Other rules take the
 * longer path. The walk leaves three kinds of rules to the unwinder: registers moved to registers,
 * an indexed CFA and a moved stack (longjmp).
 */
#include "direct_walk.h"
#include "arch/code_rule.h"
#include "arch/return_search.h"
#include "arch/unwinding.h"
#include "deep_stack.h"
#include "go_stack.h"
#include "script_marks.h"
#include "stack_switch.h"

#define PAGE_BYTES 4096
#define WINDOW_BYTES (8 * WALK_WINDOW_WORDS)
#define KNOWN(reg) (1U << (reg))
/*
 * A flag in cached_step.words: the return address is in REGISTER_LINK, so that 0 words may suffice.
 */
#define STEP_BY_LINK 0x8000
#define STEP_CACHE_FACTOR 0x9e3779b97f4a7c15ULL

CORE_PART u64 direct_register_value(const struct direct_walk *walk, u32 reg)
{
	core_one_register(reg);
	return walk->registers.value[reg & (REGISTER_SLOTS - 1)];
}

CORE_PART bool direct_knows_register(const struct direct_walk *walk, u32 reg)
{
	return walk->registers.known >> (reg & (REGISTER_SLOTS - 1)) & 1;
}

/* --- the window, a copy of stack words --- */

/*
 * Fills the window with memory from the address `end - 8 * words` on, beyond `end`, until the
 * window is full. If that cannot be read, the memory up to the end of the page of the first word is
 * read. True: the `words` words below `end` are in the window.
 */
CORE_GLOBAL_PART int direct_window_fill(struct direct_walk *walk, u64 end, u32 words)
{
	u64 start = end - 8 * words, bytes = PAGE_BYTES - (start & (PAGE_BYTES - 1));

	if (core_is_null(walk))
		return 0;
	walk->window_start = start;
	walk->window_bytes = 0;
	if (!(start & 7) && direct_read(start, walk->window, WINDOW_BYTES)) {
		walk->window_bytes = WINDOW_BYTES;
	} else if (!(start & 7)) {
		core_one_register(bytes);
		if (bytes < WINDOW_BYTES && direct_read(start, walk->window, bytes))
			walk->window_bytes = bytes;
	}
	return core_reload(walk->window_bytes) >= 8 * words;
}

CORE_PART bool direct_window_cover_or_fill(struct direct_walk *walk, u64 end, u32 words)
{
	u64 low = end - 8 * words - walk->window_start;

	return (low < walk->window_bytes && walk->window_bytes - low >= 8 * words) ||
	       direct_window_fill(walk, end, words);
}

/* The index, in the window, of an address that the window covers. */
CORE_PART u64 direct_window_index(const struct direct_walk *walk, u64 address)
{
	return (address - walk->window_start) / 8;
}

CORE_PART u64 direct_window_word(const struct direct_walk *walk, u64 index)
{
	core_one_register(index);
	return walk->window[index & (WALK_WINDOW_WORDS - 1)];
}

/* The word that lies `words` words below `end`; the window covers both. */
CORE_PART u64 direct_word_below(const struct direct_walk *walk, u64 end, u32 words)
{
	return direct_window_word(walk, direct_window_index(walk, end) - words);
}

/* --- one step --- */

/*
 * True if the return address that is saved below the CFA follows a call, or if the rule says that
 * the caller was interrupted.
 */
CORE_PART bool is_step_after_call(struct direct_walk *walk, const struct unwind_rule *rule, u64 cfa)
{
	struct return_search *search = &walk->returns;

	return rule->flags & RULE_SIGNAL ||
	       (direct_read(cfa - 8 * rule->slot[SLOT_RETURN], &search->value, 8) &&
		direct_read(strip_code_signature(&walk->registers, search->value) - 8,
			    &search->before, 8) &&
		is_after_call(search->before));
}

/* Checks a step whose CFA is not within STACK_SWITCH_BYTES above rsp. The CFA may be rsp itself (an
 * interrupted frame), or lie on another stack. */
CORE_GLOBAL_PART int check_far_cfa(struct direct_walk *walk, const struct unwind_rule *rule,
				   u64 cfa)
{
	u64 rsp;

	if (core_is_null(walk) || core_is_null(rule))
		return STOP_NO_PROGRESS;
	rsp = walk->registers.value[REGISTER_SP];
	if (cfa == rsp)
		return walk->interrupted ? STOP_NONE : STOP_NO_PROGRESS;
	if (cfa < rsp && (rule->flags & RULE_FRAME_POINTER || !is_step_after_call(walk, rule, cfa)))
		return STOP_NO_PROGRESS;
	return check_stack_switch(&walk->switches, rsp, cfa,
				  least_distance_of_other_stack(rule->flags))
		       ? STOP_NONE
		       : STOP_NO_PROGRESS;
}

/* Checks the CFA of a step, as check_cfa_and_caller_rsp() in unwind_step.c does. */
CORE_PART u32 check_cfa(struct direct_walk *walk, const struct unwind_rule *rule, u64 cfa)
{
	if (cfa & 7)
		return STOP_UNALIGNED;
	return is_step_to_other_stack(walk->registers.value[REGISTER_SP], cfa)
		       ? check_far_cfa(walk, rule, cfa)
		       : STOP_NONE;
}

/*
 * Returns STOP_NOT_CODE for a pc in the kernel's half of the address space; bit 63 is also
 * STEP_INTERRUPTED.
 */
CORE_PART u32 check_user_pc(u64 pc)
{
	return (s64)pc > 0 ? STOP_NONE : STOP_NOT_CODE;
}

CORE_PART void restore_from_slot(struct direct_walk *walk, u64 end, u32 slot, u32 reg)
{
	if (slot)
		walk->registers.value[reg] = untag_address(direct_window_word(walk, end - slot));
}

/*
 * Restores the registers that are saved before index `end` of the window. A register whose slot is
 * SLOT_LOST gets an arbitrary value, and is marked as not known.
 */
CORE_PART void restore_registers(struct direct_walk *walk, const struct cached_step *step, u64 end)
{
	const u8 *slot = step->rule.slot;

#define X(saved, reg) restore_from_slot(walk, end, slot[saved], reg);
	EACH_SAVED_REGISTER(X)
#undef X
	walk->registers.known = (walk->registers.known & (u32)step->kept << STEP_MASK_SHIFT) |
				(u32)step->restored << STEP_MASK_SHIFT;
}

CORE_PART u32 set_pc_and_sp_of_caller(struct direct_walk *walk, u64 cfa, u64 pc)
{
	pc = strip_code_signature(&walk->registers, pc);
	walk->registers.value[REGISTER_PC] = pc;
	walk->registers.value[REGISTER_SP] = cfa;
	walk->registers.at_entry = 0;
	walk->interrupted = 0;
	return check_user_pc(pc);
}

/* The number of words below the CFA, or below the base register, that a step needs. */
CORE_PART u32 stack_words_needed_by_step(const struct cached_step *step)
{
	return RETURN_MAY_BE_IN_REGISTER ? step->words & ~STEP_BY_LINK : step->words;
}

/* Steps to the caller whose registers are saved below the CFA. */
CORE_PART u32 step_by_cfa(struct direct_walk *walk, const struct cached_step *step, u64 cfa)
{
	u32 stop = check_cfa(walk, &step->rule, cfa);
	u64 end, pc;

	if (stop)
		return stop;
	if (RETURN_MAY_BE_IN_REGISTER && !step->rule.slot[SLOT_RETURN] &&
	    !direct_knows_register(walk, REGISTER_LINK))
		return STOP_UNKNOWN_REGISTER;
	if (!direct_window_cover_or_fill(walk, cfa, stack_words_needed_by_step(step)))
		return STOP_STACK_UNREADABLE;
	end = direct_window_index(walk, cfa);
	restore_registers(walk, step, end);
	pc = RETURN_MAY_BE_IN_REGISTER && !step->rule.slot[SLOT_RETURN]
		     ? walk->registers.value[REGISTER_LINK]
		     : direct_window_word(walk, end - step->rule.slot[SLOT_RETURN]);
	return set_pc_and_sp_of_caller(walk, cfa, pc);
}

/*
 * The same test as is_result_register_proven() in unwind_step.c: the result register gives the CFA.
 */
CORE_GLOBAL_PART int is_result_register_cfa(struct direct_walk *walk,
					    const struct cached_step *step)
{
	struct return_search *search;
	u64 cfa;

	if (core_is_null(walk) || core_is_null(step))
		return false;
	search = &walk->returns;
	search->pc = walk->registers.value[REGISTER_PC];
	cfa = walk->registers.value[REGISTER_RESULT] + step->rule.cfa_offset;
	return step->rule.cfa_register == REGISTER_RESULT &&
	       !is_step_to_other_stack(walk->registers.value[REGISTER_SP], cfa) &&
	       direct_read(cfa - 8 * step->rule.slot[SLOT_RETURN], &search->value, 8) &&
	       direct_read(search->value - 8, &search->before, 8) &&
	       return_search_is_after_own_call(search);
}

CORE_PART u32 step_by_plain_rule(struct direct_walk *walk, const struct cached_step *step)
{
	u32 reg = step->rule.cfa_register;

	if (!direct_knows_register(walk, reg) &&
	    (!RESULT_MAY_BE_CFA || !is_result_register_cfa(walk, step)))
		return STOP_UNKNOWN_REGISTER;
	return step_by_cfa(walk, step, direct_register_value(walk, reg) + step->rule.cfa_offset);
}

CORE_PART u32 step_over_signal(struct direct_walk *walk, const struct cached_step *step)
{
	u32 reg = step->rule.cfa_register;
	u64 end = direct_register_value(walk, reg) + step->rule.cfa_offset + UCONTEXT_GENERAL +
		  8 * SIGNAL_CONTEXT_WORDS;

	if (!direct_knows_register(walk, reg))
		return STOP_UNKNOWN_REGISTER;
	if (!direct_window_fill(walk, end, SIGNAL_CONTEXT_WORDS))
		return STOP_STACK_UNREADABLE;
	set_signal_registers(walk->window, &walk->registers);
	walk->switches.entered = walk->registers.value[REGISTER_SP];
	walk->registers.at_entry = 0;
	return check_user_pc(walk->registers.value[REGISTER_PC]);
}

CORE_PART u32 compute_step_cfa(struct direct_walk *walk, const struct unwind_rule *rule, u64 *cfa)
{
	u32 reg = rule->cfa_register;

	if (!direct_knows_register(walk, reg))
		return STOP_UNKNOWN_REGISTER;
	*cfa = direct_register_value(walk, reg) + rule->cfa_offset;
	if (rule->cfa_kind == CFA_PLT)
		*cfa += (walk->registers.value[REGISTER_PC] & 15) >= rule->operand ? 8 : 0;
	if (rule->cfa_kind == CFA_PLT || rule->cfa_kind == CFA_REGISTER ||
	    rule->cfa_kind == CFA_SCRIPT_LOOP)
		return STOP_NONE;
	if (rule->cfa_kind != CFA_DEREF)
		return STOP_UNSUPPORTED;
	if (!direct_window_cover_or_fill(walk, *cfa + 8, 1))
		return STOP_STACK_UNREADABLE;
	*cfa = direct_word_below(walk, *cfa + 8, 1) + 8 * rule->operand;
	return STOP_NONE;
}

/*
 * Steps to the caller if its registers are saved below the rule's base register instead of the CFA.
 */
CORE_PART u32 step_by_base_register(struct direct_walk *walk, const struct cached_step *step,
				    u64 cfa)
{
	u64 end = direct_register_value(walk, step->rule.base) + RULE_BASE_BYTES, pc = 0;
	u32 stop = check_cfa(walk, &step->rule, cfa);

	if (stop)
		return stop;
	if (!direct_knows_register(walk, step->rule.base))
		return STOP_UNKNOWN_REGISTER;
	if (!RETURN_IS_BELOW_BASE) {
		if (!direct_window_cover_or_fill(walk, cfa, step->rule.slot[SLOT_RETURN]))
			return STOP_STACK_UNREADABLE;
		pc = direct_word_below(walk, cfa, step->rule.slot[SLOT_RETURN]);
	}
	if (!direct_window_cover_or_fill(walk, end, stack_words_needed_by_step(step)))
		return STOP_STACK_UNREADABLE;
	if (RETURN_IS_BELOW_BASE)
		pc = direct_word_below(walk, end, step->rule.slot[SLOT_RETURN]);
	restore_registers(walk, step, direct_window_index(walk, end));
	return set_pc_and_sp_of_caller(walk, cfa, pc);
}

/* Computes the parts of a cached step that depend on its rule alone. */
CORE_GLOBAL_PART int prepare_cached_step(struct cached_step *step)
{
#define X(saved, reg) [saved] = (reg),
	static const u8 slot_register[] = {EACH_SAVED_REGISTER(X)};
#undef X
	const struct unwind_rule *rule = &step->rule;
	u64 words, fits, kept = KNOWN(REGISTER_SP), restored = KNOWN(REGISTER_SP), by_link = 0;

	if (core_is_null(step))
		return 0;
	words = rule->slot[SLOT_RETURN];
	fits = is_below(words - 1, WALK_WINDOW_WORDS);
	if (RETURN_MAY_BE_IN_REGISTER) {
		by_link = is_below(words, 1);
		fits |= by_link;
		kept *= 1 - rule_loses_sp(rule);
		restored = kept;
	}
	for (u32 i = 0; i < SLOT_RETURN; i++) {
		u64 slot = rule->slot[i], is_here = is_below(slot, WALK_WINDOW_WORDS + 1);
		u64 is_kept = is_below(slot, 1), is_deeper = is_here & is_below(words, slot);

		kept |= is_kept << slot_register[i];
		restored |= (is_here & ~is_kept) << slot_register[i];
		words += is_deeper * (slot - words);
		fits &= is_here | is_below(SLOT_LOST - 1, slot);
	}
	step->kept = kept >> STEP_MASK_SHIFT;
	step->restored = restored >> STEP_MASK_SHIFT;
	step->words = fits * (words | by_link * STEP_BY_LINK);
	step->is_plain = fits && rule->cfa_kind == CFA_REGISTER && rule->base == RULE_BASE_CFA &&
			 !(rule->flags & ~(RULE_ANALYSED | RULE_SWITCHED));
	return 0;
}

/* Examines one stack word of the search, and the code before the address that the word may be. */
static long direct_check_word_for_return(u32 i, void *arg)
{
	struct direct_walk *walk = *(struct direct_walk **)arg;
	struct return_search *search = &walk->returns;
	u32 is_found;

	if (!return_search_choose_word(search, i) ||
	    !direct_window_cover_or_fill(walk, search->address + 8, 1))
		return 1;
	search->value = direct_word_below(walk, search->address + 8, 1);
	is_found = return_search_may_be_return_address(search) &&
		   direct_read(search->value - 8, &search->before, 8) &&
		   return_search_check_code_before(search);
	core_one_register(is_found); /* Linux 6.1 must see that a callback returns 0 or 1 */
	return is_found & 1;
}

/*
 * Sets walk->step to the result of a search of the stack, for code whose rule comes neither from
 * tables nor from its bytes.
 */
CORE_GLOBAL_PART int search_stack_for_caller(struct direct_walk *walk,
					     const struct cached_step *step)
{
	struct return_search *search;
	u32 stop;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	search = &walk->returns;
	walk->step.rule = step->rule;
	search->flags = step->rule.flags;
	search->word = 8;
	search->is_interrupted = walk->interrupted != 0;
	search->is_generated = walk->is_generated;
	search->is_unlisted = walk->is_unlisted;
	return_search_set_registers(search, &walk->registers);
	core_loop(RETURN_WORDS_MAX, direct_check_word_for_return, &walk);
	stop = return_search_make_rule(search, &walk->step.rule);
	prepare_cached_step(&walk->step);
	return stop;
}

/*
 * Handles the result of a search. If the search found no caller, the walk's result is final: the
 * deferred unwinder would search the same stack words.
 */
CORE_GLOBAL_PART int accept_search_result(struct direct_walk *walk, u32 stop)
{
	if (core_is_null(walk) || stop == STOP_ROOT || stop == STOP_STACK_UNREADABLE)
		return stop;
	walk->searched_pc = walk->registers.value[REGISTER_PC];
	walk->is_guessed |= walk->returns.is_guess;
	walk->is_final = stop != STOP_NONE;
	return stop ? STOP_NO_RULE : STOP_NONE;
}

CORE_PART long direct_read_go_word(void *memory, u64 address, u64 *word)
{
	(void)memory;
	return !direct_read(address, word, sizeof(*word));
}

/* Steps from Go's scheduler stack to the calling goroutine. */
CORE_GLOBAL_PART int direct_step_to_goroutine(struct direct_walk *walk,
					      const struct cached_step *step)
{
	struct go_caller *found;
	u32 stop;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	found = &walk->go;
	stop = go_caller_find(&step->rule, &walk->registers, direct_read_go_word, 0, found);
	if (stop)
		return stop;
	if (!check_stack_switch(&walk->switches, walk->registers.value[REGISTER_SP], found->cfa,
				STACK_SWITCH_WORD))
		return STOP_NO_PROGRESS;
	walk->registers.known = KNOWN(REGISTER_SP) | (found->knows_rbp ? KNOWN(REGISTER_FP) : 0);
	walk->registers.value[REGISTER_FP] = found->rbp;
	if (GOROUTINE_IS_IN_REGISTER) {
		walk->registers.value[REGISTER_GOROUTINE] = found->goroutine;
		walk->registers.value[REGISTER_LINK] = found->link;
		walk->registers.known |= found->link ? KNOWN(REGISTER_LINK) : 0;
	}
	return set_pc_and_sp_of_caller(walk, found->cfa, found->pc);
}

/*
 * Records the frame of an interpreter's loop, whose script frames are read later. The CFA of a
 * guessed frame may be wrong, so such a frame is not recorded. Ends the walk at a loop whose script
 * frames only the callback reads.
 */
CORE_GLOBAL_PART int record_loop_frame(struct direct_walk *walk, const struct cached_step *step,
				       u64 cfa)
{
	struct script_mark *mark;
	u32 frame, place;

	if (core_is_null(walk) || core_is_null(step) || walk->is_guessed)
		return STOP_NONE;
	frame = RULE_LOOP_FRAME(step->rule.operand);
	place = RULE_LOOP_PLACE(step->rule.operand);
	if (RULE_LOOP_IS_LEFT(step->rule.operand) && walk->leaves_generated) {
		walk->has_left_generated = 1;
		return STOP_NO_RULE;
	}
	mark = script_marks_add(&walk->scripts, walk->frame_index);
	if (!mark)
		return STOP_NONE;
	mark->cfa = cfa;
	mark->pc = walk->registers.value[REGISTER_PC];
	mark->place = (step->place ^ walk->generation) & ~STEP_INTERRUPTED;
	mark->frame = direct_knows_register(walk, frame) ? direct_register_value(walk, frame) : 0;
	mark->code_place =
		direct_knows_register(walk, place) ? direct_register_value(walk, place) : 0;
	return STOP_NONE;
}

CORE_GLOBAL_PART int step_by_rule(struct direct_walk *walk, const struct cached_step *step)
{
	u32 flags, stop;
	u64 cfa = 0;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	flags = step->rule.flags;
	if (flags & RULE_OUTERMOST)
		return STOP_ROOT;
	if (step->rule.cfa_kind == CFA_SIGNAL) {
		walk->is_generated = 0;
		stop = step_over_signal(walk, step);
	} else if (step->rule.cfa_kind >= CFA_GO_SAVED) {
		stop = direct_step_to_goroutine(walk, step);
	} else if (!step->words || flags & RULE_STACK_MOVED) {
		stop = STOP_UNSUPPORTED;
	} else {
		stop = compute_step_cfa(walk, &step->rule, &cfa);
		if (!stop && step->rule.cfa_kind == CFA_SCRIPT_LOOP)
			stop = record_loop_frame(walk, step, cfa);
		if (!stop)
			stop = step->rule.base == RULE_BASE_CFA
				       ? step_by_cfa(walk, step, cfa)
				       : step_by_base_register(walk, step, cfa);
	}
	walk->interrupted = flags & RULE_SIGNAL ? STEP_INTERRUPTED : 0;
	return stop;
}

/*
 * True if a frame that has made a call has a frame pointer that leads to a return address after a
 * call. The search of the stack would find the same step, but costs three times as much.
 */
CORE_GLOBAL_PART int has_linked_frame_pointer(struct direct_walk *walk,
					      const struct cached_step *step)
{
	struct return_search *search;
	u64 cfa;

	if (core_is_null(walk) || core_is_null(step))
		return false;
	search = &walk->returns;
	search->rsp = walk->registers.value[REGISTER_SP];
	cfa = walk->registers.value[REGISTER_FP] + step->rule.cfa_offset;
	if (walk->interrupted | walk->is_unlisted | walk->registers.at_entry || cfa & 7 ||
	    walk->registers.value[REGISTER_FP] < search->rsp ||
	    !direct_knows_register(walk, REGISTER_FP) || is_step_to_other_stack(search->rsp, cfa) ||
	    !direct_window_cover_or_fill(walk, cfa, stack_words_needed_by_step(step)))
		return false;
	search->value = direct_word_below(walk, cfa, step->rule.slot[SLOT_RETURN]);
	search->word = 8;
	search->is_guess = 0;
	return return_search_may_be_return_address(search) &&
	       direct_read(search->value - 8, &search->before, 8) && is_after_call(search->before);
}

/* Takes a step by any rule that is not plain. */
CORE_GLOBAL_PART int step_by_other_rule(struct direct_walk *walk, const struct cached_step *step)
{
	int stop;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	if (!(step->rule.flags & RULE_FRAME_POINTER))
		return step_by_rule(walk, step);
	if (!RETURN_MAY_BE_IN_REGISTER && has_linked_frame_pointer(walk, step))
		return accept_search_result(walk, step_by_rule(walk, step));
	stop = search_stack_for_caller(walk, step);
	return accept_search_result(walk, stop ?: step_by_rule(walk, &walk->step));
}

/* --- finding the step --- */

/*
 * The entry at walk->step_index. The index is read from memory again, so that the verifier knows no
 * more than that the result is an entry.
 */
CORE_PART struct cached_step *step_cache_entry(struct direct *direct)
{
	u32 index = core_reload(direct->walk->step_index);

	core_one_register(index);
	return index < STEP_CACHE_KEPT + STEP_CACHE_SLOTS ? &direct->steps->entry[index] : 0;
}

/* Reads the code around the pc within [start, end). */
CORE_PART bool read_code_around_pc(struct direct_walk *walk, u64 start, u64 end)
{
	u64 pc = walk->registers.value[REGISTER_PC];
	u32 missing = near_code_bytes_before_mapping(pc, start),
	    after = near_code_bytes_after_pc(pc, end);

	near_code_clear(&walk->code);
	core_one_register(missing);
	core_one_register(after);
	return missing <= NEAR_CODE_BEFORE && after <= NEAR_CODE_AFTER &&
	       direct_read(pc - (NEAR_CODE_BEFORE - missing), (u8 *)walk->code.word + missing,
			   NEAR_CODE_BEFORE - missing + after);
}

/* Sets walk->search.rule to the rule of code without tables in the mapping [start, end). */
CORE_GLOBAL_PART int make_rule_of_code_without_tables(struct direct_walk *walk, u64 start, u64 end)
{
	if (core_is_null(walk))
		return STOP_NO_RULE;
	walk->search.is_lasting = 0;
	if (!read_code_around_pc(walk, start, end))
		return STOP_TABLE_UNREADABLE;
	code_rule(&walk->code, &walk->search.rule, 8, walk->interrupted != 0,
		  walk->registers.value[REGISTER_RESULT]);
	return STOP_NONE;
}

/* True if the rule is for a built-in function of V8. The callback names the frames of these
 * functions. */
CORE_PART bool rule_is_left_to_callback(struct direct_walk *walk)
{
	const struct unwind_rule *rule = &walk->search.rule;

	walk->has_left_generated = walk->leaves_generated &
				   is_below(rule->operand ^ RULE_OPERAND_V8, 1) &
				   (is_below(rule->cfa_kind ^ CFA_REGISTER, 1) |
				    is_below(rule->cfa_kind ^ CFA_BY_CODE, 1));
	return core_reload(walk->has_left_generated);
}

/*
 * Sets walk->search.rule to the rule of walk->search.place. If no table covers the place, the rule
 * is made from the code.
 */
CORE_PART u32 find_rule(struct direct *direct, bool is_generated)
{
	struct direct_walk *walk = direct->walk;
	struct code_range range;

	if (is_generated & (walk->leaves_generated != 0)) {
		walk->has_left_generated = 1;
		return STOP_NO_RULE;
	}
	walk->is_generated = is_generated;
	walk->is_unlisted = 0;
	walk->is_by_code = is_generated || rule_search_find(&walk->search, direct->rules);
	if (!is_generated) {
		walk->is_unlisted = !core_reload(walk->search.is_listed);
		if (core_reload(walk->is_by_code) && rule_is_left_to_callback(walk))
			return STOP_NO_RULE;
		if (core_reload(walk->is_by_code) &&
		    core_reload(walk->search.rule.cfa_kind) != CFA_BY_CODE)
			return STOP_NONE;
		walk->is_generated = direct_code_has_no_elf_header(direct);
		walk->has_left_generated = core_reload(walk->is_generated) & walk->leaves_generated;
		if (core_reload(walk->has_left_generated))
			return STOP_NO_RULE;
	}
	if (!(core_reload(walk->is_by_code) | core_reload(walk->is_generated)))
		return STOP_NO_RULE;
	range = direct_mapping_range(direct);
	return make_rule_of_code_without_tables(walk, range.start, range.end);
}

/*
 * Stores walk->step in the shared cache if its rule holds for all processes, else in the entry of
 * this scratch slot.
 */
CORE_PART void cache_step(struct direct *direct)
{
	struct direct_walk *walk = direct->walk;
	struct cached_step *entry;

	if (walk->slot || !walk->search.is_lasting)
		walk->step_index = STEP_CACHE_KEPT + walk->slot;
	entry = step_cache_entry(direct);
	if (entry)
		*entry = walk->step;
}

/* Makes the step of a place that the step cache does not have. */
CORE_OUTLINED u32 make_cached_step_of_place(struct direct *direct, u64 place, bool is_generated)
{
	struct direct_walk *walk = direct->walk;
	u32 stop;

	walk->search.place = place;
	walk->search.pc = walk->registers.value[REGISTER_PC];
	stop = find_rule(direct, is_generated);
	if (stop)
		return stop;
	walk->step.place = place ^ walk->generation;
	walk->step.rule = walk->search.rule;
	prepare_cached_step(&walk->step);
	cache_step(direct);
	return STOP_NONE;
}

/* --- the walk --- */

/*
 * Adds the current frame. The pc of a frame other than the leaf is the address after its
 * instruction (abi/stack.h). Neither an interrupted function nor a signal trampoline has made a
 * call.
 */
CORE_PART void add_frame(struct direct *direct, u32 i, u64 frame, const struct cached_step *step)
{
	u32 index = i - direct->walk->leaf_apart;
	u32 slot = i ? deep_stack_slot(index) : index;

	if (i && (direct->walk->interrupted || step->rule.cfa_kind == CFA_SIGNAL))
		frame += FRAME_BEHIND_INTERRUPTED;
	core_one_register(slot);
	direct->stack->word[slot & (STACK_WORDS_MAX - 1)] = frame;
	direct->stack->depth = index + 1;
}

/*
 * Adds the frame and steps to its caller. At the depth limit only the frame's code address matters,
 * not its rule.
 */
static long direct_walk_frame(u32 i, void *arg)
{
	struct direct *direct = arg;
	struct direct_walk *walk = direct->walk;
	bool is_generated = false;
	u64 frame = direct_frame_of_pc(direct, walk->registers.value[REGISTER_PC], &is_generated);
	u64 place = frame | walk->interrupted;
	u32 index = (place * STEP_CACHE_FACTOR) >> (64 - STEP_CACHE_BITS), stop = STOP_NONE;
	const struct cached_step *step;

	if (!frame) {
		/* The pc is a stack word that the search chose, but is not in code. */
		walk->is_final = walk->registers.value[REGISTER_PC] == walk->searched_pc;
		walk->stop = STOP_NOT_CODE;
		return 1;
	}
	walk->step_index = index;
	if (walk->slot || direct->steps->entry[index].place != (place ^ walk->generation))
		stop = make_cached_step_of_place(direct, place, is_generated);
	if (i >= walk->max_depth)
		stop = STOP_DEPTH;
	step = step_cache_entry(direct);
	core_one_register(step); /* the step's address is computed once, not at each use */
	if (!stop && step) {
		if (!step->is_plain) {
			walk->frame_index = i;
			if (RETURN_MAY_BE_IN_REGISTER) {
				struct code_range range = direct_mapping_range(direct);

				walk->returns.mapping_start = range.start;
				walk->returns.mapping_end = range.end;
				walk->returns.is_vdso = range.is_vdso;
			}
		}
		add_frame(direct, i, walk->is_guessed ? frame | FRAME_GUESSED : frame, step);
		stop = step->is_plain ? step_by_plain_rule(walk, step)
				      : (u32)step_by_other_rule(walk, step);
	}
	walk->stop = stop;
	return stop != STOP_NONE;
}

/*
 * Sets the final stop reason. If a search led to a pc outside of code, the stop reason is
 * STOP_NO_RULE, as in the unwinder.
 */
CORE_GLOBAL_PART int set_stop_reason_of_walk(struct direct_walk *walk)
{
	if (core_is_null(walk))
		return 0;
	if (walk->is_final)
		walk->stop = STOP_NO_RULE;
	if (walk->stop == STOP_NOT_CODE && !walk->interrupted &&
	    registers_have_no_caller(&walk->registers))
		walk->stop = STOP_ROOT;
	if (walk->stop == STOP_ROOT && walk->is_guessed)
		walk->stop = STOP_GUESSED;
	if (walk->stop != STOP_NONE && !STOP_IS_DEFERRAL(walk->stop))
		walk->is_final = 1;
	return 0;
}

/*
 * A leaf that is kept apart from the stack is written to the last word of the buffer (index -1),
 * which no frame of a stack uses.
 */
CORE_INLINE void direct_walk(struct direct *direct)
{
	struct direct_walk *walk = direct->walk;
	struct stack *stack = direct->stack;

	walk->interrupted = STEP_INTERRUPTED;
	walk->switches.entered = walk->registers.value[REGISTER_SP];
	walk->switches.count = 0;
	walk->window_bytes = 0;
	walk->search.table_steps = 0;
	walk->search.table.now = 0;
	walk->is_final = 0;
	walk->is_guessed = 0;
	walk->is_generated = 0;
	walk->searched_pc = 0;
	script_marks_clear(&walk->scripts);
	stack->depth = 0;
	stack->word[STACK_WORDS_MAX - 1] = 0;
	walk->stop = walk->is_compat ? STOP_UNSUPPORTED
				     : check_user_pc(walk->registers.value[REGISTER_PC]);
	if (!walk->stop)
		core_loop(STACK_WALK_DEPTH_MAX + 1, direct_walk_frame, direct);
	walk->leaf = walk->leaf_apart ? stack->word[STACK_WORDS_MAX - 1] : 0;
	set_stop_reason_of_walk(walk);
	stack->depth = deep_stack_order_frames((struct deep_stack *)stack->word,
					       core_reload(stack->depth));
	stack->flags = stack_flags_of_stop(core_reload(walk->stop));
}
