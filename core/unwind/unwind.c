/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk up a user stack, frame by frame. A malformed or unsupported table ends the walk: a guess
 * instead could give frames that never existed. If no table covers the code, and the bytes of the
 * code give no rule, the stack is searched for the return address (return_search.h). After a guess,
 * all further frames are marked as guessed. If a guess leads to an address that is not code, the
 * stop reason is STOP_NO_RULE. If SFrame has no usable rule, .eh_frame is tried.
 */
#include "unwind.h"
#include "deep_stack.h"
#include "script_marks.h"

/*
 * Makes the rule from the tables of the current image. Returns the stop reason if there is no rule.
 */
CORE_PART u32 make_table_rule(struct unwind *unwind, struct unwind_rule *rule)
{
	u32 stop = image_read_headers(unwind);

	if (stop)
		return stop;
	stop = sframe_make_rule(unwind, rule);
	if (stop == STOP_NO_RULE || stop == STOP_BAD_TABLE || stop == STOP_UNSUPPORTED)
		stop = eh_frame_make_rule(unwind, rule);
	return stop;
}

/*
 * True if the pc directly follows a system call instruction. The kernel interrupts a task there,
 * and the instruction may be the last of a function (the return from a signal handler).
 */
CORE_PART bool is_after_syscall(struct unwind *unwind, u64 pc)
{
	unwind->word = 0;
	return unwind_fetch(unwind, pc - SYSCALL_BYTES, &unwind->word, SYSCALL_BYTES) &&
	       unwind->word == SYSCALL_CODE;
}

#ifdef UNWIND_KNOWS_JAVA
/*
 * Makes the rule of code that no table covers. For an interrupted frame the code's bytes are
 * tried before the machine's data, for other frames after them. No stack begins in generated code,
 * so a frame-pointer rule loses RULE_ENTRY and RULE_UNCALLED.
 */
CORE_PART u32 make_generated_code_rule(struct unwind *unwind)
{
	bool is_of_file = unwind->mapping.image != 0 || unwind->is_compat;
	u32 stop;

	if (!is_of_file && !unwind->is_interrupted && unwind_java_rule(unwind))
		return STOP_NONE;
	stop = unwind_code_rule(unwind, &unwind->rule);
	if (stop || is_of_file || !core_reload(unwind->java.is_found))
		return stop;
	if (!unwind->is_interrupted || !unwind_java_rule(unwind))
		unwind->rule.flags &= ~(RULE_ENTRY | RULE_UNCALLED);
	return STOP_NONE;
}

/* Searches for the virtual machine if the current frame's code belongs to no file. */
CORE_PART void find_java_machine(struct unwind *unwind)
{
	unwind->java.method = unwind->java.inlined = unwind->java.is_omitted = 0;
	unwind->java.own_name = 0;
	if (!unwind->mapping.image && !core_reload(unwind->java.is_found))
		unwind_find_java_layout(unwind);
}

CORE_PART u64 *last_added_frame(struct unwind *unwind)
{
	u32 index = deep_stack_slot(unwind->depth - 1);

	core_one_register(index);
	return &unwind->frame[index & (UNWIND_FRAMES - 1)];
}

/* Names the current frame, if it has a method or a block with a name. False: a page is missing that
 * may be waited for. */
CORE_PART bool name_java_frame(struct unwind *unwind)
{
	if (core_reload(unwind->java.is_omitted) && !core_reload(unwind->is_guessed))
		*last_added_frame(unwind) = FRAME_OMITTED_SOME;
	if (!(core_reload(unwind->java.method) | core_reload(unwind->java.own_name)))
		return true;
	unwind_name_java_frame(unwind);
	return core_reload(unwind->budget);
}

/* Replaces the last frame by one of an inlined function, and adds it again as the next one. */
static long add_inlined_frame(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	u64 *frame = last_added_frame(unwind), outer = *frame;

	core_one_register(i);
	if (i >= unwind->java.inlined || i >= JAVA_CHAIN_MAX)
		return 1;
	*frame = FRAME_SCRIPT(SCRIPT_JAVA_INLINED, unwind->java.chain[i & (JAVA_CHAIN_MAX - 1)]) |
		 (outer & FRAME_GUESSED);
	if (unwind->depth >= unwind->max_depth) {
		unwind->stop = STOP_DEPTH;
		return 1;
	}
	unwind->depth++;
	*last_added_frame(unwind) = outer;
	return 0;
}

/* Adds the functions that the compiler has put into the function of the last frame. Called once the
 * step from the frame is final, since walk_frame() may be repeated for a frame. */
CORE_GLOBAL_PART int add_inlined_frames(struct unwind *unwind)
{
	if (core_is_null(unwind) || !unwind->java.inlined)
		return 0;
	core_rare_loop(JAVA_CHAIN_MAX, add_inlined_frame, &unwind);
	unwind->java.inlined = 0;
	return 0;
}
#else
CORE_PART int add_inlined_frames(struct unwind *unwind)
{
	(void)unwind;
	return 0;
}

CORE_PART bool name_java_frame(struct unwind *unwind)
{
	(void)unwind;
	return true;
}

CORE_PART void find_java_machine(struct unwind *unwind)
{
	(void)unwind;
}

CORE_PART u32 make_generated_code_rule(struct unwind *unwind)
{
	return unwind_code_rule(unwind, &unwind->rule);
}
#endif

CORE_INLINE u32 unwind_rule(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	u32 stop = STOP_NO_RULE;

	/* For a frame that made a call, the rule is looked up for an address within the call
	 * instruction. */
	unwind->lookup_pc = unwind->is_interrupted && !is_after_syscall(unwind, pc) ? pc : pc - 1;
	unwind->code_seen = 0;
	unwind->same_from = unwind->same_to = 0;
	if (!core_reload(unwind->is_by_code) && !unwind->is_compat && unwind->mapping.image)
		stop = make_table_rule(unwind, &unwind->rule);
	return stop == STOP_NO_RULE ? make_generated_code_rule(unwind) : stop;
}

/*
 * Sets unwind->granule to the size of the aligned block of code around the pc in which the new rule
 * holds.
 */
CORE_GLOBAL_PART int compute_granule(struct unwind *unwind)
{
	if (core_is_null(unwind))
		return 0;
	unwind->granule =
		rule_granule_bytes(unwind->registers.value[REGISTER_PC], unwind->is_interrupted,
				   unwind->same_from, unwind->same_to);
	return 0;
}

/*
 * Looks up the rule of the current frame in the cache, or makes it. The function is outlined, so
 * that its words on the BPF stack are gone when it returns: some verifiers (6.19) distinguish
 * states by words that no code reads any more, and would verify the step for each.
 * UNWIND_SAVES_A_CALL inlines the function into its caller, for programs that reach it one call
 * deeper: Linux 6.1 refuses calls that are 9 deep.
 */
#ifdef UNWIND_SAVES_A_CALL
CORE_PART
#else
CORE_OUTLINED
#endif
u32 find_or_make_rule(struct unwind *unwind)
{
	u32 stop;

	/*
	 * The rule of code without a file is never cached. `is_lasting` is in memory, since the
	 * verifier would follow each value of a local variable.
	 */
	unwind->is_lasting = !unwind->is_compat && unwind->mapping.image;
	unwind->granule = 1;
	unwind->is_by_code = 0;
	unwind->is_listed = 0;
	unwind->code_seen = 0;
	if (core_reload(unwind->is_lasting) && unwind_find_cached_rule(unwind)) {
		unwind->is_by_code = unwind->rule.cfa_kind == CFA_BY_CODE;
		if (!core_reload(unwind->is_by_code))
			return STOP_NONE;
	}
	stop = unwind_rule(unwind);
	/* A rule that was made from a part of the code only, or without the tables of its file, is
	 * not cached, since the cache key does not say so. */
	if (stop || !core_reload(unwind->is_lasting) || !unwind->budget ||
	    unwind->code_seen == CODE_UNREADABLE || !unwind->mapping.image || unwind->is_by_code)
		return stop;
	compute_granule(unwind);
	unwind_cache_rule(unwind);
	return STOP_NONE;
}

CORE_PART bool is_frame_pointer_rule(const struct unwind *unwind)
{
	return unwind->rule.flags & RULE_FRAME_POINTER;
}

/* Examines one stack word of the search, and the code before the address that the word may be. */
static long check_stack_word_for_return(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct return_search *search = &unwind->returns;
	u32 is_found;

	if (!return_search_choose_word(search, i) ||
	    !(search->word == 8 ? unwind_peek(unwind, search->address, &search->value, 8)
				: unwind_peek(unwind, search->address, &search->value, 4)))
		return 1;
	is_found = return_search_may_be_return_address(search) &&
		   unwind_peek(unwind, search->value - 8, &search->before, 8) &&
		   return_search_check_code_before(search);
	core_one_register(is_found); /* the verifier must see that a callback returns 0 or 1 */
	return is_found & 1;
}

/*
 * Sets unwind->rule to the result of a search of the stack, for code whose rule comes neither from
 * tables nor from its bytes.
 */
CORE_GLOBAL_PART int search_return_address(struct unwind *unwind)
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
	search->mapping_start = unwind->mapping.start;
	search->mapping_end = unwind->mapping.end;
	search->is_vdso = unwind->mapping.is_vdso;
	return_search_set_registers(search, &unwind->registers);
	core_rare_loop(RETURN_WORDS_MAX, check_stack_word_for_return, &unwind);
	stop = return_search_make_rule(search, &unwind->rule);
	/*
	 * Code that OpenJDK's virtual machine generates has return addresses that follow no call.
	 */
	search->is_guess |= search->is_generated & (core_reload(unwind->java.is_found) != 0);
	/* The memory above a coroutine's first frame may be untouched, or not mapped. */
	return stop == STOP_STACK_UNREADABLE && search->flags & RULE_UNCALLED ? STOP_ROOT : stop;
}

/*
 * Decides the stop reason of a step by a rule that was not proven. A step that failed gets
 * STOP_NO_RULE: neither code nor stack lead to a caller.
 */
CORE_GLOBAL_PART int stop_reason_of_searched_step(struct unwind *unwind, u32 stop)
{
	if (core_is_null(unwind) || !is_frame_pointer_rule(unwind) || stop == STOP_BUDGET ||
	    stop == STOP_ROOT)
		return stop;
	if (stop)
		return STOP_NO_RULE;
	unwind->is_guessed |= unwind->returns.is_guess;
	return STOP_NONE;
}

/*
 * Marks the frame of a signal trampoline: the handler returns to the trampoline's first
 * instruction, which follows no call.
 */
CORE_PART void mark_signal_trampoline(struct unwind *unwind)
{
	u32 index = deep_stack_slot(unwind->depth - 1);

	core_one_register(index);
	if (unwind->rule.cfa_kind == CFA_SIGNAL && !unwind->is_interrupted)
		unwind->frame[index & (UNWIND_FRAMES - 1)] += FRAME_BEHIND_INTERRUPTED;
}

#ifdef UNWIND_KNOWS_V8
/*
 * Notes whether the code of the current frame is V8's own or without a table. The caller does this
 * before search_return_address(), which replaces the rule.
 */
CORE_PART void note_if_v8_code(struct unwind *unwind)
{
	unwind->v8.is_own = !unwind->mapping.image || core_reload(unwind->is_by_code) ||
			    core_reload(unwind->code_seen) ||
			    core_reload(unwind->rule.operand) == RULE_OPERAND_V8;
}

/* Names the current frame if its rule is that of a frame pointer. */
CORE_PART void name_v8_frame(struct unwind *unwind)
{
	const struct unwind_rule *rule = &unwind->rule;

	if (core_reload(unwind->v8.is_own) && rule->cfa_kind == CFA_REGISTER &&
	    rule->cfa_register == REGISTER_FP && rule->cfa_offset == 16 && !unwind->is_compat)
		unwind_name_v8_frame(unwind);
}

/*
 * True if the current frame has made a call and its words prove that it is a frame of V8: the frame
 * then has its name and the rule of a frame pointer. Only code that V8 has generated and the pc of
 * an earlier frame of V8 are tried, and no rule is looked up for these.
 */
CORE_PART bool is_known_v8_frame(struct unwind *unwind)
{
	unwind->v8.is_proven = unwind->v8.is_tried = unwind->is_saved_ready = 0;
	if (unwind->is_interrupted | unwind->is_compat || !core_reload(unwind->v8.is_found) ||
	    (unwind->mapping.image && unwind->registers.value[REGISTER_PC] != unwind->v8.last_pc))
		return false;
	unwind->rule = (struct unwind_rule){
		.cfa_register = REGISTER_FP,
		.cfa_offset = 16,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER,
		.slot = {SLOTS_LOST_BUT_FP, [SLOT_FP] = 2, [SLOT_RETURN] = 1},
	};
	unwind->v8.is_own = unwind->v8.is_tried = 1;
	name_v8_frame(unwind);
	return core_reload(unwind->v8.is_proven);
}

/* True if more functions of V8 run in the current frame (inlined ones), and were not added as
 * frames yet. */
CORE_PART bool has_unadded_v8_functions(const struct unwind *unwind)
{
	return core_reload(unwind->v8.inlined.left);
}

/* Adds a frame for the next inlined function of V8 that runs in the current frame. */
CORE_PART u32 add_frame_of_v8_function(struct unwind *unwind)
{
	if (core_reload(unwind->depth) >= unwind->max_depth)
		return STOP_DEPTH;
	unwind_name_v8_frame(unwind);
	return STOP_NONE;
}
#else
CORE_PART void note_if_v8_code(struct unwind *unwind)
{
	(void)unwind;
}

CORE_PART void name_v8_frame(struct unwind *unwind)
{
	(void)unwind;
}

CORE_PART bool is_known_v8_frame(struct unwind *unwind)
{
	(void)unwind;
	return false;
}

CORE_PART bool has_unadded_v8_functions(const struct unwind *unwind)
{
	(void)unwind;
	return false;
}

CORE_PART u32 add_frame_of_v8_function(struct unwind *unwind)
{
	(void)unwind;
	return STOP_NONE;
}
#endif

/* Finds the rule of the current frame, and names the frame. */
CORE_PART u32 find_rule_and_name_of_frame(struct unwind *unwind)
{
	u32 stop;

	if (unwind->is_compat && !COMPAT_IS_UNWOUND)
		return STOP_UNSUPPORTED;
	find_java_machine(unwind);
	if (is_known_v8_frame(unwind))
		return STOP_NONE;
	stop = find_or_make_rule(unwind);
	if (!name_java_frame(unwind))
		return STOP_BUDGET;
	if (stop)
		return stop;
	mark_signal_trampoline(unwind);
	note_if_v8_code(unwind);
	/* A frame of V8 that has made a call needs no search if its words prove the frame pointer.
	 */
	if (!(unwind->is_interrupted | core_reload(unwind->v8.is_tried)))
		name_v8_frame(unwind);
	if (core_reload(unwind->v8.is_proven))
		unwind->v8.last_pc = unwind->registers.value[REGISTER_PC];
	else if (is_frame_pointer_rule(unwind))
		stop = search_return_address(unwind);
	if (stop)
		stop = stop_reason_of_searched_step(unwind, stop);
	else if (unwind->is_interrupted)
		name_v8_frame(unwind);
	return stop;
}

/* Adds the current frame. The leaf is added even outside of code. */
CORE_PART u32 add_current_frame(struct unwind *unwind)
{
	u64 pc = unwind->registers.value[REGISTER_PC];
	bool is_code = (pc >= unwind->mapping.start && pc < unwind->mapping.end) ||
		       unwind_find_mapping(unwind, pc);
	u32 index = unwind->depth;

	if (!is_code && index)
		return is_frame_pointer_rule(unwind) ? STOP_NO_RULE : STOP_NOT_CODE;
	if (index >= unwind->max_depth)
		return STOP_DEPTH;
	index = deep_stack_slot(index);
	core_one_register(index);
	/* FRAME_BEHIND_INTERRUPTED says that the frame was interrupted (abi/stack.h). The pc of the
	 * leaf is exact without it. */
	unwind->frame[index & (UNWIND_FRAMES - 1)] =
		(unwind_frame(unwind, pc) +
		 (unwind->depth && unwind->is_interrupted ? FRAME_BEHIND_INTERRUPTED : 0)) |
		(unwind->is_guessed ? unwind->guess_mark : 0);
	unwind->depth++;
	return is_code ? STOP_NONE : STOP_NOT_CODE;
}

CORE_PART void drop_read_tables(struct unwind *unwind)
{
	unwind->image.header = 0;
	unwind->bytes.filled = 0;
	unwind->cfi.entry.cie = 0;
}

/*
 * Handles one frame. If the budget was spent and is refilled, the next call repeats the same frame.
 * All tables that were read in part are dropped before.
 */
static long walk_frame(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;

	(void)i;
	if (has_unadded_v8_functions(unwind)) {
		unwind->stop = add_frame_of_v8_function(unwind);
	} else {
		unwind->first = unwind->depth;
		unwind->stop = add_current_frame(unwind);
		if (!unwind->stop)
			unwind->stop = find_rule_and_name_of_frame(unwind);
	}
	if (!core_reload(unwind->stop))
		unwind->stop =
			has_unadded_v8_functions(unwind)
				? STOP_NONE
				: (u32)stop_reason_of_searched_step(unwind, unwind_step(unwind));
	if (core_reload(unwind->budget) || unwind->refills == UNWIND_REFILLS_MAX ||
	    !unwind_wait_for_missing_page(unwind)) {
		add_inlined_frames(unwind);
		return core_reload(unwind->stop) != STOP_NONE;
	}
	drop_read_tables(unwind);
	unwind->java.inlined = 0;
	unwind->refills++;
	unwind->depth = unwind->first;
	unwind->v8.inlined.left = 0;
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
	unwind->java.last_method = unwind->java.inlined = unwind->java.barrier = 0;
	unwind->v8.tries = unwind->v8.is_found = unwind->v8.has_names = 0;
	unwind->v8.file_script = unwind->v8.last_pc = 0;
	unwind->v8.inlined.steps_left = V8_STEPS_MAX;
	unwind->v8.inlined.left = 0;
	script_marks_clear(&unwind->scripts);
	unwind->mapping.end = 0;
	unwind->rule.flags = 0;
	core_rare_loop(STACK_WALK_DEPTH_MAX + 1 + UNWIND_REFILLS_MAX, walk_frame, &unwind);
	if (core_reload(unwind->is_guessed) && unwind->stop == STOP_ROOT)
		unwind->stop = STOP_GUESSED;
	unwind->depth = deep_stack_order_frames((struct deep_stack *)unwind->frame,
						core_reload(unwind->depth));
	return unwind->depth;
}

CORE_INLINE void unwind_drop_mapping_and_tables(struct unwind *unwind)
{
	unwind->mapping.end = 0;
	drop_read_tables(unwind);
}
