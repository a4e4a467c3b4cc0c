/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk. A malformed or unsupported table ends the walk: a guess in its place could give frames
 * that never were. If no table covers the code, and its bytes do not suffice, the stack is searched
 * (return_search.h). A guess marks all frames behind it; if the guess leads to no code, the stop is
 * STOP_NO_RULE. If SFrame has no usable rule, .eh_frame is tried.
 */
#include "unwind.h"
#include "deep_stack.h"
#include "script_marks.h"

/*
 * Makes the rule from the tables of the current image. Returns the stop reason if there is no rule.
 */
CORE_PART u32 table_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	u32 stop = image_enter(unwind);

	if (stop)
		return stop;
	stop = sframe_rule(unwind, rule);
	if (stop == STOP_NO_RULE || stop == STOP_BAD_TABLE || stop == STOP_UNSUPPORTED)
		stop = eh_frame_rule(unwind, rule);
	return stop;
}

/*
 * True if the pc is behind a system call instruction. The kernel interrupts a task there, and the
 * instruction may be the last of a function (the return from a signal handler).
 */
CORE_PART bool is_behind_syscall(struct unwind *unwind, u64 pc)
{
	unwind->word = 0;
	return unwind_fetch(unwind, pc - SYSCALL_BYTES, &unwind->word, SYSCALL_BYTES) &&
	       unwind->word == SYSCALL_CODE;
}

/* The address whose rule counts: within the call for a frame that made a call. */
CORE_PART u64 lookup_address(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];

	return unwind->is_interrupted && !is_behind_syscall(unwind, pc) ? pc : pc - 1;
}

#ifdef UNWIND_KNOWS_JAVA
/*
 * Makes the rule of code that no table covers. For an interrupted frame the code's bytes are
 * tried before the machine's data, for other frames after them. No stack begins in generated code,
 * so a frame-pointer rule loses RULE_ENTRY and RULE_UNCALLED.
 */
CORE_PART u32 generated_rule(struct unwind *unwind)
{
	bool is_of_file = unwind->mapping.image != 0 || unwind->is_compat;
	u32 stop;

	if (!is_of_file && !unwind->is_interrupted && unwind_java_rule(unwind))
		return STOP_NONE;
	stop = unwind_code_rule(unwind, &unwind->rule);
	if (stop || is_of_file || !core_reload(unwind->java.is_found) ||
	    !(core_reload(unwind->rule.flags) & RULE_FRAME_POINTER))
		return stop;
	if (!unwind->is_interrupted || !unwind_java_rule(unwind))
		unwind->rule.flags &= ~(RULE_ENTRY | RULE_UNCALLED);
	return STOP_NONE;
}

/* Searches for the virtual machine if the current frame's code belongs to no file. */
CORE_PART void java_enter(struct unwind *unwind)
{
	unwind->java.method = 0;
	if (!unwind->mapping.image && !core_reload(unwind->java.is_found))
		unwind_java_find(unwind);
}

/* Names the current frame, if it has a method. False: a page is missing that may be waited for. */
CORE_PART bool java_name(struct unwind *unwind)
{
	if (!core_reload(unwind->java.method))
		return true;
	unwind_java_name(unwind);
	return core_reload(unwind->budget);
}
#else
CORE_PART bool java_name(struct unwind *unwind)
{
	(void)unwind;
	return true;
}

CORE_PART void java_enter(struct unwind *unwind)
{
	(void)unwind;
}

CORE_PART u32 generated_rule(struct unwind *unwind)
{
	return unwind_code_rule(unwind, &unwind->rule);
}
#endif

CORE_INLINE u32 unwind_rule(struct unwind *unwind)
{
	u32 stop = STOP_NO_RULE;

	unwind->lookup_pc = lookup_address(unwind);
	unwind->code_seen = 0;
	unwind->same_from = unwind->same_to = 0;
	if (!core_reload(unwind->is_by_code) && !unwind->is_compat && unwind->mapping.image)
		stop = table_rule(unwind, &unwind->rule);
	return stop == STOP_NO_RULE ? generated_rule(unwind) : stop;
}

/*
 * True if the rule of the current pc may come from the cache. The rule of code without a file is
 * made from the code each time.
 */
CORE_PART bool code_is_lasting(const struct unwind *unwind)
{
	return !unwind->is_compat && unwind->mapping.image;
}

/*
 * True if the rule follows from its key. False: the rule was made from a part of the code, or
 * without the tables of its file.
 */
CORE_PART bool is_memorable(const struct unwind *unwind)
{
	return unwind->budget && unwind->code_seen != CODE_UNREADABLE && unwind->mapping.image &&
	       !unwind->is_by_code;
}

/* Sets unwind->granule to the length around the pc where the new rule holds. */
CORE_GLOBAL_PART int granule_find(struct unwind *unwind)
{
	if (core_is_null(unwind))
		return 0;
	unwind->granule = rule_granule(unwind->registers.value[REGISTER_PC], unwind->is_interrupted,
				       unwind->same_from, unwind->same_to);
	return 0;
}

/*
 * Takes the rule of the current frame from the cache, or makes it. Outlined, so that what it keeps
 * on the BPF stack is gone behind it: some verifiers (6.19) keep states apart by words that no code
 * reads any more, and would verify the step for each. UNWIND_SAVES_A_CALL makes it part of its
 * caller, for programs that reach it one call deeper: Linux 6.1 refuses calls that are 9 deep.
 */
#ifdef UNWIND_SAVES_A_CALL
CORE_PART
#else
CORE_OUTLINED
#endif
u32 rule_enter(struct unwind *unwind)
{
	u32 stop;

	/* in memory: the verifier would follow each value of a local variable */
	unwind->is_lasting = code_is_lasting(unwind);
	unwind->granule = 1;
	unwind->is_by_code = 0;
	unwind->is_listed = 0;
	unwind->code_seen = 0;
	if (core_reload(unwind->is_lasting) && unwind_recall(unwind)) {
		unwind->is_by_code = unwind->rule.cfa_kind == CFA_BY_CODE;
		if (!core_reload(unwind->is_by_code))
			return STOP_NONE;
	}
	stop = unwind_rule(unwind);
	if (stop || !core_reload(unwind->is_lasting) || !is_memorable(unwind))
		return stop;
	granule_find(unwind);
	unwind_remember(unwind);
	return STOP_NONE;
}

/* Sets unwind->mapping to the mapping of the current pc. */
CORE_PART bool mapping_enter(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];

	if (pc >= unwind->mapping.start && pc < unwind->mapping.end)
		return true;
	return unwind_find_mapping(unwind, pc);
}

CORE_PART bool is_without_rule(const struct unwind *unwind)
{
	return unwind->rule.flags & RULE_FRAME_POINTER;
}

/*
 * Looks at one stack word of the search, and at the bytes in front of the address that it may hold.
 */
static long return_look(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct return_search *search = &unwind->returns;
	u32 is_found;

	if (!return_search_next(search, i) ||
	    !(search->word == 8 ? unwind_peek(unwind, search->address, &search->value, 8)
				: unwind_peek(unwind, search->address, &search->value, 4)))
		return 1;
	is_found = return_search_wants(search) &&
		   unwind_peek(unwind, search->value - 8, &search->before, 8) &&
		   return_search_take(search);
	core_one_register(is_found); /* the verifier must see that a callback returns 0 or 1 */
	return is_found & 1;
}

/*
 * Sets unwind->rule to the result of a search of the stack, for code that neither tables nor its
 * bytes explain.
 */
CORE_GLOBAL_PART int return_find(struct unwind *unwind)
{
	struct return_search *search;
	u32 stop;

	if (core_is_null(unwind))
		return STOP_NO_RULE;
	search = &unwind->returns;
	search->flags = unwind->rule.flags;
	search->word = unwind->is_compat ? 4 : 8;
	search->is_interrupted = unwind->is_interrupted;
	search->is_generated = !unwind->is_compat && !unwind->mapping.image;
	search->is_unlisted = !(search->is_generated | core_reload(unwind->is_by_code) |
				core_reload(unwind->is_listed));
	return_search_begin(search, &unwind->registers);
	core_loop(RETURN_WORDS_MAX, return_look, &unwind);
	stop = return_search_end(search, &unwind->rule);
	/* Code of the machine returns to addresses that are behind no call. */
	search->is_guess |= search->is_generated & (core_reload(unwind->java.is_found) != 0);
	/* The memory above a coroutine's first frame may be untouched, or not there. */
	return stop == STOP_STACK_UNREADABLE && search->flags & RULE_UNCALLED ? STOP_ROOT : stop;
}

/*
 * Replaces the stop of a step without a proven rule by STOP_NO_RULE: neither code nor stack give a
 * caller.
 */
CORE_GLOBAL_PART int step_judge(struct unwind *unwind, u32 stop)
{
	if (core_is_null(unwind) || !is_without_rule(unwind) || stop == STOP_BUDGET ||
	    stop == STOP_ROOT)
		return stop;
	if (stop)
		return STOP_NO_RULE;
	unwind->is_guessed |= unwind->returns.is_guess;
	return STOP_NONE;
}

/* The distance of the current frame from the pc (abi/stack.h). The leaf is the pc itself. */
CORE_PART u64 behind_pc(const struct unwind *unwind)
{
	return unwind->depth && unwind->is_interrupted ? FRAME_BEHIND_INTERRUPTED : 0;
}

/*
 * Marks the frame of a signal trampoline: the handler returns to its first instruction, which is
 * not behind a call.
 */
CORE_PART void trampoline_mark(struct unwind *unwind)
{
	u32 index = deep_stack_slot(unwind->depth - 1);

	core_one_register(index);
	if (unwind->rule.cfa_kind == CFA_SIGNAL && !unwind->is_interrupted)
		unwind->frame[index & (UNWIND_FRAMES - 1)] += FRAME_BEHIND_INTERRUPTED;
}

CORE_PART u32 frame_leave(struct unwind *unwind)
{
	u32 stop;

	if (unwind->is_compat && !COMPAT_IS_UNWOUND)
		return STOP_UNSUPPORTED;
	java_enter(unwind);
	stop = rule_enter(unwind);
	if (!java_name(unwind))
		return STOP_BUDGET;
	if (stop)
		return stop;
	trampoline_mark(unwind);
	if (is_without_rule(unwind))
		stop = return_find(unwind);
	if (!stop)
		stop = unwind_step(unwind);
	return step_judge(unwind, stop);
}

/* Adds the current frame. The leaf is added even outside of code. */
CORE_PART u32 frame_enter(struct unwind *unwind)
{
	bool is_code = mapping_enter(unwind);
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 index = unwind->depth;

	if (!is_code && index)
		return is_without_rule(unwind) ? STOP_NO_RULE : STOP_NOT_CODE;
	if (index >= unwind->max_depth)
		return STOP_DEPTH;
	index = deep_stack_slot(index);
	core_one_register(index);
	unwind->frame[index & (UNWIND_FRAMES - 1)] =
		(unwind_frame(unwind, pc) + behind_pc(unwind)) |
		(unwind->is_guessed ? unwind->guess_mark : 0);
	unwind->depth++;
	return is_code ? STOP_NONE : STOP_NOT_CODE;
}

CORE_PART void tables_forget(struct unwind *unwind)
{
	unwind->image.header = 0;
	unwind->bytes.filled = 0;
	unwind->cfi.entry.cie = 0;
}

/* Walks one frame. Before the frame is tried again, all half-read tables are dropped. */
static long walk_step(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;

	(void)i;
	unwind->stop = frame_enter(unwind);
	if (!unwind->stop)
		unwind->stop = frame_leave(unwind);
	if (core_reload(unwind->budget) || unwind->refills == UNWIND_REFILLS_MAX ||
	    !unwind_refill(unwind))
		return core_reload(unwind->stop) != STOP_NONE;
	tables_forget(unwind);
	unwind->refills++;
	unwind->depth--;
	return 0;
}

CORE_INLINE u32 unwind_stack(struct unwind *unwind, u32 max_depth)
{
	unwind->depth = 0;
	unwind->refills = 0;
	unwind->max_depth = max_depth < STACK_WALK_DEPTH_MAX ? max_depth : STACK_WALK_DEPTH_MAX;
	unwind->is_interrupted = true;
	unwind->is_guessed = 0;
	unwind->switches.entered = unwind->registers.value[REGISTER_SP];
	unwind->switches.count = 0;
	unwind->java.tries = unwind->java.is_found = unwind->java.is_open = 0;
	unwind->java.last_method = 0;
	script_marks_clear(&unwind->scripts);
	unwind->mapping.end = 0;
	unwind->rule.flags = 0;
	core_loop(STACK_WALK_DEPTH_MAX + 1 + UNWIND_REFILLS_MAX, walk_step, &unwind);
	if (core_reload(unwind->is_guessed) && unwind->stop == STOP_ROOT)
		unwind->stop = STOP_GUESSED;
	unwind->depth =
		deep_stack_end((struct deep_stack *)unwind->frame, core_reload(unwind->depth));
	return unwind->depth;
}

CORE_INLINE void unwind_forget(struct unwind *unwind)
{
	unwind->mapping.end = 0;
	tables_forget(unwind);
}
