/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A frame costs one look at the step cache and a few words of a window onto the stack; one read
 * fills the window for all frames in it. The common path is straight: CFA = register + offset, and
 * all saved words lie within a window below the CFA. Other rules take the longer path. The walk
 * leaves three kinds of rules to the unwinder: registers moved to registers, an indexed CFA and a
 * moved stack (longjmp).
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
/* Set in `words` if the return address is in REGISTER_LINK, so that 0 words may be enough. */
#define STEP_BY_LINK 0x8000
#define STEP_CACHE_FACTOR 0x9e3779b97f4a7c15ULL

CORE_PART u64 direct_register(const struct direct_walk *walk, u32 reg)
{
	core_one_register(reg);
	return walk->registers.value[reg & (REGISTER_SLOTS - 1)];
}

CORE_PART bool direct_knows(const struct direct_walk *walk, u32 reg)
{
	return walk->registers.known >> (reg & (REGISTER_SLOTS - 1)) & 1;
}

/* --- the window --- */

CORE_PART bool direct_covers(const struct direct_walk *walk, u64 end, u32 words)
{
	u64 low = end - 8 * words - walk->window_start;

	return low < walk->window_bytes && walk->window_bytes - low >= 8 * words;
}

/*
 * Fills the window from `words` words below an address. If the whole window cannot be read, the
 * part up to the end of its page is.
 */
CORE_GLOBAL_PART int direct_fill(struct direct_walk *walk, u64 end, u32 words)
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

CORE_PART bool direct_open(struct direct_walk *walk, u64 end, u32 words)
{
	return direct_covers(walk, end, words) || direct_fill(walk, end, words);
}

/* The index in the window of an address that the window covers. */
CORE_PART u64 direct_index(const struct direct_walk *walk, u64 address)
{
	return (address - walk->window_start) / 8;
}

CORE_PART u64 direct_word(const struct direct_walk *walk, u64 index)
{
	core_one_register(index);
	return walk->window[index & (WALK_WINDOW_WORDS - 1)];
}

/* The word `words` below an address that the window covers. */
CORE_PART u64 direct_below(const struct direct_walk *walk, u64 end, u32 words)
{
	return direct_word(walk, direct_index(walk, end) - words);
}

/* --- one step --- */

/*
 * True if the return address that is saved below the CFA lies behind a call, or if the rule says
 * that the caller was interrupted.
 */
CORE_PART bool step_is_called(struct direct_walk *walk, const struct unwind_rule *rule, u64 cfa)
{
	struct return_search *search = &walk->returns;

	return rule->flags & RULE_SIGNAL ||
	       (direct_read(cfa - 8 * rule->slot[SLOT_RETURN], &search->value, 8) &&
		direct_read(code_address_of(&walk->registers, search->value) - 8, &search->before,
			    8) &&
		is_behind_call(search->before));
}

/* Checks a step whose CFA is not within STACK_SWITCH_BYTES above rsp. The CFA may be rsp itself (an
 * interrupted frame), or lie on another stack. */
CORE_GLOBAL_PART int caller_switch(struct direct_walk *walk, const struct unwind_rule *rule,
				   u64 cfa)
{
	u64 rsp;

	if (core_is_null(walk) || core_is_null(rule))
		return STOP_NO_PROGRESS;
	rsp = walk->registers.value[REGISTER_SP];
	if (cfa == rsp)
		return walk->interrupted ? STOP_NONE : STOP_NO_PROGRESS;
	if (cfa < rsp && (rule->flags & RULE_FRAME_POINTER || !step_is_called(walk, rule, cfa)))
		return STOP_NO_PROGRESS;
	return stack_switch(&walk->switches, rsp, cfa, stack_switch_gap(rule->flags))
		       ? STOP_NONE
		       : STOP_NO_PROGRESS;
}

/* The CFA is checked for every step, as frame_check() in unwind_step.c does. */
CORE_PART u32 caller_check(struct direct_walk *walk, const struct unwind_rule *rule, u64 cfa)
{
	if (cfa & 7)
		return STOP_UNALIGNED;
	return stack_switch_is_far(walk->registers.value[REGISTER_SP], cfa)
		       ? caller_switch(walk, rule, cfa)
		       : STOP_NONE;
}

/* Refuses a pc in the kernel's half of the address space; bit 63 is also STEP_INTERRUPTED. */
CORE_PART u32 pc_check(u64 pc)
{
	return (s64)pc > 0 ? STOP_NONE : STOP_NOT_CODE;
}

CORE_PART void step_restore_slot(struct direct_walk *walk, u64 end, u32 slot, u32 reg)
{
	if (slot)
		walk->registers.value[reg] = direct_word(walk, end - slot);
}

/*
 * Restores the registers that are saved below `end`, an index in the window. A lost slot gives its
 * register any value; the register is then not known.
 */
CORE_PART void step_restore(struct direct_walk *walk, const struct cached_step *step, u64 end)
{
	const u8 *slot = step->rule.slot;

#define X(saved, reg) step_restore_slot(walk, end, slot[saved], reg);
	EACH_SAVED_REGISTER(X)
#undef X
	walk->registers.known = (walk->registers.known & (u32)step->kept << STEP_MASK_SHIFT) |
				(u32)step->restored << STEP_MASK_SHIFT;
}

CORE_PART u32 caller_enter(struct direct_walk *walk, u64 cfa, u64 pc)
{
	pc = code_address_of(&walk->registers, pc);
	walk->registers.value[REGISTER_PC] = pc;
	walk->registers.value[REGISTER_SP] = cfa;
	walk->registers.at_entry = 0;
	walk->interrupted = 0;
	return pc_check(pc);
}

/* The words below the CFA or the base that a step needs. */
CORE_PART u32 step_window(const struct cached_step *step)
{
	return RETURN_MAY_BE_IN_REGISTER ? step->words & ~STEP_BY_LINK : step->words;
}

/* Steps to the caller by the words saved below the CFA. */
CORE_PART u32 step_by_cfa(struct direct_walk *walk, const struct cached_step *step, u64 cfa)
{
	u32 stop = caller_check(walk, &step->rule, cfa);
	u64 end, pc;

	if (stop)
		return stop;
	if (RETURN_MAY_BE_IN_REGISTER && !step->rule.slot[SLOT_RETURN] &&
	    !direct_knows(walk, REGISTER_LINK))
		return STOP_UNKNOWN_REGISTER;
	if (!direct_open(walk, cfa, step_window(step)))
		return STOP_STACK_UNREADABLE;
	end = direct_index(walk, cfa);
	step_restore(walk, step, end);
	pc = RETURN_MAY_BE_IN_REGISTER && !step->rule.slot[SLOT_RETURN]
		     ? walk->registers.value[REGISTER_LINK]
		     : direct_word(walk, end - step->rule.slot[SLOT_RETURN]);
	return caller_enter(walk, cfa, pc);
}

/* The same test as result_is_proven() in unwind_step.c. */
CORE_GLOBAL_PART int step_proves_result(struct direct_walk *walk, const struct cached_step *step)
{
	struct return_search *search;
	u64 cfa;

	if (core_is_null(walk) || core_is_null(step))
		return false;
	search = &walk->returns;
	search->pc = walk->registers.value[REGISTER_PC];
	cfa = walk->registers.value[REGISTER_RESULT] + step->rule.cfa_offset;
	return step->rule.cfa_register == REGISTER_RESULT &&
	       !stack_switch_is_far(walk->registers.value[REGISTER_SP], cfa) &&
	       direct_read(cfa - 8 * step->rule.slot[SLOT_RETURN], &search->value, 8) &&
	       direct_read(search->value - 8, &search->before, 8) &&
	       return_search_is_of_call(search);
}

CORE_PART u32 step_plain(struct direct_walk *walk, const struct cached_step *step)
{
	u32 reg = step->rule.cfa_register;

	if (!direct_knows(walk, reg) && (!RESULT_MAY_BE_CFA || !step_proves_result(walk, step)))
		return STOP_UNKNOWN_REGISTER;
	return step_by_cfa(walk, step, direct_register(walk, reg) + step->rule.cfa_offset);
}

CORE_PART u32 step_signal(struct direct_walk *walk, const struct cached_step *step)
{
	u32 reg = step->rule.cfa_register;
	u64 end = direct_register(walk, reg) + step->rule.cfa_offset + UCONTEXT_GENERAL +
		  8 * SIGNAL_CONTEXT_WORDS;

	if (!direct_knows(walk, reg))
		return STOP_UNKNOWN_REGISTER;
	if (!direct_fill(walk, end, SIGNAL_CONTEXT_WORDS))
		return STOP_STACK_UNREADABLE;
	signal_registers(walk->window, &walk->registers);
	walk->switches.entered = walk->registers.value[REGISTER_SP];
	walk->registers.at_entry = 0;
	return pc_check(walk->registers.value[REGISTER_PC]);
}

CORE_PART u32 step_cfa(struct direct_walk *walk, const struct unwind_rule *rule, u64 *cfa)
{
	u32 reg = rule->cfa_register;

	if (!direct_knows(walk, reg))
		return STOP_UNKNOWN_REGISTER;
	*cfa = direct_register(walk, reg) + rule->cfa_offset;
	if (rule->cfa_kind == CFA_PLT)
		*cfa += (walk->registers.value[REGISTER_PC] & 15) >= rule->operand ? 8 : 0;
	if (rule->cfa_kind == CFA_PLT || rule->cfa_kind == CFA_REGISTER ||
	    rule->cfa_kind == CFA_SCRIPT_LOOP)
		return STOP_NONE;
	if (rule->cfa_kind != CFA_DEREF)
		return STOP_UNSUPPORTED;
	if (!direct_open(walk, *cfa + 8, 1))
		return STOP_STACK_UNREADABLE;
	*cfa = direct_below(walk, *cfa + 8, 1) + 8 * rule->operand;
	return STOP_NONE;
}

/* Steps to the caller if its registers are saved below another register than the CFA. */
CORE_PART u32 step_by_base(struct direct_walk *walk, const struct cached_step *step, u64 cfa)
{
	u64 end = direct_register(walk, step->rule.base) + RULE_BASE_BYTES, pc = 0;
	u32 stop = caller_check(walk, &step->rule, cfa);

	if (stop)
		return stop;
	if (!direct_knows(walk, step->rule.base))
		return STOP_UNKNOWN_REGISTER;
	if (!RETURN_IS_BELOW_BASE) {
		if (!direct_open(walk, cfa, step->rule.slot[SLOT_RETURN]))
			return STOP_STACK_UNREADABLE;
		pc = direct_below(walk, cfa, step->rule.slot[SLOT_RETURN]);
	}
	if (!direct_open(walk, end, step_window(step)))
		return STOP_STACK_UNREADABLE;
	if (RETURN_IS_BELOW_BASE)
		pc = direct_below(walk, end, step->rule.slot[SLOT_RETURN]);
	step_restore(walk, step, direct_index(walk, end));
	return caller_enter(walk, cfa, pc);
}

/* Computes the parts of a step that follow from its rule alone. */
CORE_GLOBAL_PART int step_prepare(struct cached_step *step)
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

/*
 * Looks at one stack word of the search, and at the bytes in front of the address that it may hold.
 */
static long direct_look(u32 i, void *arg)
{
	struct direct_walk *walk = *(struct direct_walk **)arg;
	struct return_search *search = &walk->returns;
	u32 is_found;

	if (!return_search_next(search, i) || !direct_open(walk, search->address + 8, 1))
		return 1;
	search->value = direct_below(walk, search->address + 8, 1);
	is_found = return_search_wants(search) &&
		   direct_read(search->value - 8, &search->before, 8) && return_search_take(search);
	core_one_register(is_found); /* Linux 6.1 must see that a callback returns 0 or 1 */
	return is_found & 1;
}

/*
 * Sets walk->step to the result of a search of the stack, for code that neither tables nor its
 * bytes explain.
 */
CORE_GLOBAL_PART int step_search(struct direct_walk *walk, const struct cached_step *step)
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
	return_search_begin(search, &walk->registers);
	core_loop(RETURN_WORDS_MAX, direct_look, &walk);
	stop = return_search_end(search, &walk->step.rule);
	step_prepare(&walk->step);
	return stop;
}

/* Takes the result of a search. A search that found no caller is final: the deferred unwinder would
 * search the same stack words. */
CORE_GLOBAL_PART int step_searched(struct direct_walk *walk, u32 stop)
{
	if (core_is_null(walk) || stop == STOP_ROOT || stop == STOP_STACK_UNREADABLE)
		return stop;
	walk->searched_pc = walk->registers.value[REGISTER_PC];
	walk->is_guessed |= walk->returns.is_guess;
	walk->is_final = stop != STOP_NONE;
	return stop ? STOP_NO_RULE : STOP_NONE;
}

CORE_PART long direct_go_word(void *memory, u64 address, u64 *word)
{
	(void)memory;
	return !direct_read(address, word, sizeof(*word));
}

/* Steps from Go's scheduler stack to the calling goroutine. */
CORE_GLOBAL_PART int step_go(struct direct_walk *walk, const struct cached_step *step)
{
	struct go_caller *found;
	u32 stop;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	found = &walk->go;
	stop = go_caller_find(&step->rule, &walk->registers, direct_go_word, 0, found);
	if (stop)
		return stop;
	if (!stack_switch(&walk->switches, walk->registers.value[REGISTER_SP], found->cfa,
			  STACK_SWITCH_WORD))
		return STOP_NO_PROGRESS;
	walk->registers.known = KNOWN(REGISTER_SP) | (found->knows_rbp ? KNOWN(REGISTER_FP) : 0);
	walk->registers.value[REGISTER_FP] = found->rbp;
	return caller_enter(walk, found->cfa, found->pc);
}

/* Notes the frame of a loop. A guessed frame may have another CFA. */
CORE_GLOBAL_PART int step_mark(struct direct_walk *walk, const struct cached_step *step, u64 cfa)
{
	struct script_mark *mark;
	u32 frame, place;

	if (core_is_null(walk) || core_is_null(step) || walk->is_guessed)
		return 0;
	mark = script_marks_add(&walk->scripts, walk->frame_index);
	if (!mark)
		return 0;
	frame = RULE_LOOP_FRAME(step->rule.operand);
	place = RULE_LOOP_PLACE(step->rule.operand);
	mark->cfa = cfa;
	mark->pc = walk->registers.value[REGISTER_PC];
	mark->place = (step->place ^ walk->generation) & ~STEP_INTERRUPTED;
	mark->frame = direct_knows(walk, frame) ? direct_register(walk, frame) : 0;
	mark->code_place = direct_knows(walk, place) ? direct_register(walk, place) : 0;
	return 0;
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
		stop = step_signal(walk, step);
	} else if (step->rule.cfa_kind >= CFA_GO_SAVED) {
		stop = step_go(walk, step);
	} else if (!step->words || flags & RULE_STACK_MOVED) {
		stop = STOP_UNSUPPORTED;
	} else {
		stop = step_cfa(walk, &step->rule, &cfa);
		if (!stop && step->rule.cfa_kind == CFA_SCRIPT_LOOP)
			step_mark(walk, step, cfa);
		if (!stop)
			stop = step->rule.base == RULE_BASE_CFA ? step_by_cfa(walk, step, cfa)
								: step_by_base(walk, step, cfa);
	}
	walk->interrupted = flags & RULE_SIGNAL ? STEP_INTERRUPTED : 0;
	return stop;
}

/*
 * True if a frame that has made a call keeps a frame pointer that leads to a word behind a call.
 * The search would find the same step, but costs three times as much.
 */
CORE_GLOBAL_PART int step_keeps_pointer(struct direct_walk *walk, const struct cached_step *step)
{
	struct return_search *search;
	u64 cfa;

	if (core_is_null(walk) || core_is_null(step))
		return false;
	search = &walk->returns;
	search->rsp = walk->registers.value[REGISTER_SP];
	cfa = walk->registers.value[REGISTER_FP] + step->rule.cfa_offset;
	if (walk->interrupted | walk->is_unlisted | walk->registers.at_entry || cfa & 7 ||
	    walk->registers.value[REGISTER_FP] < search->rsp || !direct_knows(walk, REGISTER_FP) ||
	    stack_switch_is_far(search->rsp, cfa) || !direct_open(walk, cfa, step_window(step)))
		return false;
	search->value = direct_below(walk, cfa, step->rule.slot[SLOT_RETURN]);
	search->word = 8;
	search->is_guess = 0;
	return return_search_wants(search) && direct_read(search->value - 8, &search->before, 8) &&
	       is_behind_call(search->before);
}

/* Takes every step that is not plain. */
CORE_GLOBAL_PART int step_other(struct direct_walk *walk, const struct cached_step *step)
{
	int stop;

	if (core_is_null(walk) || core_is_null(step))
		return STOP_NO_RULE;
	if (!(step->rule.flags & RULE_FRAME_POINTER))
		return step_by_rule(walk, step);
	if (!RETURN_MAY_BE_IN_REGISTER && step_keeps_pointer(walk, step))
		return step_searched(walk, step_by_rule(walk, step));
	stop = step_search(walk, step);
	return step_searched(walk, stop ?: step_by_rule(walk, &walk->step));
}

/* --- finding the step --- */

CORE_PART u32 step_index(u64 place)
{
	return (place * STEP_CACHE_FACTOR) >> (64 - STEP_CACHE_BITS);
}

/* The entry at walk->step_index, read anew: the verifier then knows only that it is an entry. */
CORE_PART struct cached_step *step_entry(struct direct *direct)
{
	u32 index = core_reload(direct->walk->step_index);

	core_one_register(index);
	return index < STEP_CACHE_KEPT + STEP_CACHE_SLOTS ? &direct->steps->entry[index] : 0;
}

/* Reads the code around the pc within [start, end). */
CORE_PART bool code_read(struct direct_walk *walk, u64 start, u64 end)
{
	u64 pc = walk->registers.value[REGISTER_PC];
	u32 missing = near_code_missing(pc, start), after = near_code_after(pc, end);

	near_code_clear(&walk->code);
	core_one_register(missing);
	core_one_register(after);
	return missing <= NEAR_CODE_BEFORE && after <= NEAR_CODE_AFTER &&
	       direct_read(pc - (NEAR_CODE_BEFORE - missing), (u8 *)walk->code.word + missing,
			   NEAR_CODE_BEFORE - missing + after);
}

/* Sets walk->search.rule to the rule of code without tables in the mapping [start, end). */
CORE_GLOBAL_PART int code_find(struct direct_walk *walk, u64 start, u64 end)
{
	if (core_is_null(walk))
		return STOP_NO_RULE;
	walk->search.is_lasting = 0;
	if (!code_read(walk, start, end))
		return STOP_TABLE_UNREADABLE;
	code_rule(&walk->code, &walk->search.rule, 8, walk->interrupted != 0,
		  walk->registers.value[REGISTER_RESULT]);
	return STOP_NONE;
}

/*
 * Sets walk->search.rule to the rule of walk->search.place; if no table covers the place, the code
 * gives the rule.
 */
CORE_PART u32 rule_find(struct direct *direct, bool is_generated)
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
		if (core_reload(walk->is_by_code) &&
		    core_reload(walk->search.rule.cfa_kind) != CFA_BY_CODE)
			return STOP_NONE;
		walk->is_generated = direct_code_apart(direct);
	}
	if (!(core_reload(walk->is_by_code) | core_reload(walk->is_generated)))
		return STOP_NO_RULE;
	range = direct_code_range(direct);
	return code_find(walk, range.start, range.end);
}

/*
 * Stores walk->step: in the shared cache if its rule holds for all processes, else in the slot's
 * own entry.
 */
CORE_PART void step_put(struct direct *direct)
{
	struct direct_walk *walk = direct->walk;
	struct cached_step *entry;

	if (walk->slot || !walk->search.is_lasting)
		walk->step_index = STEP_CACHE_KEPT + walk->slot;
	entry = step_entry(direct);
	if (entry)
		*entry = walk->step;
}

/* Makes a step for a place. */
CORE_OUTLINED u32 step_find(struct direct *direct, u64 place, bool is_generated)
{
	struct direct_walk *walk = direct->walk;
	u32 stop;

	walk->search.place = place;
	walk->search.pc = walk->registers.value[REGISTER_PC];
	stop = rule_find(direct, is_generated);
	if (stop)
		return stop;
	walk->step.place = place ^ walk->generation;
	walk->step.rule = walk->search.rule;
	step_prepare(&walk->step);
	step_put(direct);
	return STOP_NONE;
}

/* --- the walk --- */

/*
 * Adds the current frame. A frame other than the leaf lies behind its instruction (abi/stack.h);
 * neither an interrupted function nor a signal trampoline has made a call.
 */
CORE_PART void frame_add(struct direct *direct, u32 i, u64 frame, const struct cached_step *step)
{
	u32 index = i - direct->walk->leaf_apart;
	u32 slot = i ? deep_stack_slot(index) : index;

	if (i && (direct->walk->interrupted || step->rule.cfa_kind == CFA_SIGNAL))
		frame += FRAME_BEHIND_INTERRUPTED;
	core_one_register(slot);
	direct->stack->word[slot & (STACK_WORDS_MAX - 1)] = frame;
	direct->stack->depth = index + 1;
}

/* Steps to the caller. At the depth limit only the frame's place in code matters, not its rule. */
static long direct_step(u32 i, void *arg)
{
	struct direct *direct = arg;
	struct direct_walk *walk = direct->walk;
	bool is_generated = false;
	u64 frame = direct_frame(direct, walk->registers.value[REGISTER_PC], &is_generated);
	u64 place = frame | walk->interrupted;
	u32 index = step_index(place), stop = STOP_NONE;
	const struct cached_step *step;

	if (!frame) {
		/* The pc is a stack word that the search chose, and is not in code. */
		walk->is_final = walk->registers.value[REGISTER_PC] == walk->searched_pc;
		walk->stop = STOP_NOT_CODE;
		return 1;
	}
	walk->step_index = index;
	if (walk->slot || direct->steps->entry[index].place != (place ^ walk->generation))
		stop = step_find(direct, place, is_generated);
	if (i >= walk->max_depth)
		stop = STOP_DEPTH;
	step = step_entry(direct);
	core_one_register(step); /* once, and not at each use */
	if (!stop && step) {
		if (!step->is_plain)
			walk->frame_index = i;
		frame_add(direct, i, walk->is_guessed ? frame | FRAME_GUESSED : frame, step);
		stop = step->is_plain ? step_plain(walk, step) : (u32)step_other(walk, step);
	}
	walk->stop = stop;
	return stop != STOP_NONE;
}

/*
 * Sets the final stop. If a search led to a pc outside of code, the stop is STOP_NO_RULE, as in the
 * unwinder.
 */
CORE_GLOBAL_PART int walk_end(struct direct_walk *walk)
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
 * A leaf that is kept apart is written to the last word, index -1, where no frame of a stack lies.
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
	walk->stop =
		walk->is_compat ? STOP_UNSUPPORTED : pc_check(walk->registers.value[REGISTER_PC]);
	if (!walk->stop)
		core_loop(STACK_WALK_DEPTH_MAX + 1, direct_step, direct);
	walk->leaf = walk->leaf_apart ? stack->word[STACK_WORDS_MAX - 1] : 0;
	walk_end(walk);
	stack->depth = deep_stack_end((struct deep_stack *)stack->word, core_reload(stack->depth));
	stack->flags = stack_flags_of_stop(core_reload(walk->stop));
}
