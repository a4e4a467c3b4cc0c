/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "arch/return_search.h"

#define FUNCTION_BYTES_MAX (16 << 10) /* the most bytes from a function's start to its pc */
#define ADDRESS_MIN (64 << 10)	      /* no code is mapped at lower addresses (vm.mmap_min_addr) */
#define ADDRESS_MAX (1ULL << 47)
#define STACK_NEAR (1 << 20) /* a frame pointer points at most this far above rsp */
#define NO_CODE_NEAR 4096    /* no code lies within this many bytes of rsp */

#define NO_POINTER (~0U) /* value of search->pointer without a frame pointer */

/*
 * The index of the word above the frame pointer, where a return address would be. If that word is
 * beyond the words of the search, the last index of the search stands for it.
 */
CORE_PART u32 frame_pointer_word_index(struct return_search *search)
{
	u64 bytes = search->rbp - search->rsp;

	search->is_far = 0;
	if (!search->knows_rbp || search->rbp < search->rsp || bytes >= 8 * STACK_NEAR ||
	    bytes & (search->word - 1))
		return NO_POINTER;
	bytes = bytes / search->word + 1;
	if (bytes < RETURN_WORDS_MAX)
		return bytes;
	search->is_far = 1;
	return RETURN_WORDS_MAX - 1;
}

CORE_GLOBAL int return_search_set_registers(struct return_search *search,
					    const struct unwind_registers *registers)
{
	if (core_is_null(search) || core_is_null(registers))
		return 0;
	search->pc = registers->value[REGISTER_RIP];
	search->rsp = registers->value[REGISTER_RSP];
	search->rbp = registers->value[REGISTER_RBP];
	search->knows_rbp = registers->known >> REGISTER_RBP & 1;
	search->is_at_entry = registers->at_entry;
	search->saved_pointer = 0;
	search->is_chain_end = 0;
	search->called = 0;
	search->calls = 0;
	search->pointer_kind = RETURN_NO_CALL;
	search->pointer = frame_pointer_word_index(search);
	search->words =
		search->pointer == NO_POINTER ? RETURN_WORDS_POINTERLESS : search->pointer + 1;
	search->skew = !search->is_interrupted && search->pointer != NO_POINTER;
	search->first = search->skew ? search->pointer : 0;
	search->may_hide = search->skew & search->is_unlisted;
	search->enough = RETURN_OF_CALL - (RETURN_OF_CALL - RETURN_INDIRECT) * search->skew +
			 (RETURN_NEVER - RETURN_INDIRECT) * search->may_hide;
	search->is_unread = 0;
	if (search->is_at_entry ||
	    (search->flags & RULE_UNCALLED && search->knows_rbp && !search->rbp))
		search->words = 0;
	return 0;
}

CORE_GLOBAL int return_search_choose_word(struct return_search *search, u32 i)
{
	if (core_is_null(search) || i >= search->words)
		return 0;
	i = i ? i - search->skew : search->first;
	search->at = i;
	search->address = i == search->pointer ? search->rbp + search->word
					       : search->rsp + (u64)i * search->word;
	search->value = 0;
	search->is_unread = 1;
	return 1;
}

CORE_GLOBAL int return_search_may_be_return_address(struct return_search *search)
{
	u64 value;
	u32 i;

	if (core_is_null(search))
		return 0;
	search->is_unread = 0;
	value = search->value;
	i = search->at;
	if (value - search->rsp < STACK_NEAR && !(value & (search->word - 1)))
		search->saved_pointer = 1 + i;
	if (i + 1 == search->pointer && !search->is_far)
		search->is_chain_end = !value;
	return value - ADDRESS_MIN < ADDRESS_MAX &&
	       value - search->rsp + NO_CODE_NEAR >= 2 * NO_CODE_NEAR;
}

/*
 * Returns the enum return_kind of search->value. If a direct call precedes this address,
 * *target is set to the called function.
 */
CORE_PART u32 return_address_kind(const struct return_search *search, u64 *target)
{
	if (!is_after_call(search->before))
		return RETURN_NO_CALL;
	if (!call_is_direct(search->before))
		return RETURN_INDIRECT;
	*target = call_target(search->value, search->before);
	return search->pc - *target < FUNCTION_BYTES_MAX ? RETURN_OF_CALL : RETURN_DIRECT;
}

CORE_GLOBAL int return_search_is_after_own_call(const struct return_search *search)
{
	u64 target = 0;

	return !core_is_null(search) && return_address_kind(search, &target) == RETURN_OF_CALL;
}

CORE_GLOBAL int return_search_check_code_before(struct return_search *search)
{
	u64 target = 0;
	u32 kind, i;

	if (core_is_null(search))
		return 0;
	i = search->at;
	kind = return_address_kind(search, &target);
	if (i == search->pointer)
		search->pointer_kind = kind;
	if (kind == RETURN_OF_CALL) {
		/*
		 * The word above the frame pointer comes last, and wins over other words after a
		 * call of the same function.
		 */
		if (!search->called || target + (i == search->pointer) > search->target) {
			search->called = 1 + i;
			search->called_pointer = search->saved_pointer;
			search->target = target;
			search->is_inner = search->pc - search->value < search->pc - target;
		}
	} else if (kind != RETURN_NO_CALL && !search->calls) {
		search->calls = 1 + i;
	}
	return i == search->first && kind >= search->enough;
}

/*
 * The slot of the caller's rbp if the return address lies `words` words above rsp. The caller's rbp
 * is the unchanged rbp, if that may be a frame pointer, or a pushed word that may be one.
 */
CORE_PART u8 caller_rbp_slot(const struct return_search *search, u32 words)
{
	if (!words || (search->pointer != NO_POINTER && search->pointer > words))
		return 0;
	return search->called_pointer ? words + 2 - search->called_pointer : SLOT_LOST;
}

/*
 * Makes the rule for a return address that lies `words` words above rsp. The registers pushed below
 * the return address are not known.
 */
CORE_PART void make_stack_word_rule(const struct return_search *search, u32 words,
				    struct unwind_rule *rule)
{
	u8 slot = words ? SLOT_LOST : 0;

	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = (words + 1) * search->word,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER,
		.slot = {slot, caller_rbp_slot(search, words), slot, slot, slot, slot, 1},
	};
}

CORE_PART u32 end_search_by_frame_pointer(struct return_search *search, struct unwind_rule *rule)
{
	/*
	 * The step is a guess, too, if the search has passed an address after a call before the
	 * frame pointer.
	 */
	search->is_guess =
		search->pointer_kind != RETURN_OF_CALL &&
		(search->is_far || (search->calls && search->calls - 1 < search->pointer) ||
		 (search->pointer_kind == RETURN_NO_CALL && !search->is_chain_end));
	if (search->pointer != NO_POINTER)
		return STOP_NONE;
	if (search->calls != 1)
		return STOP_NO_RULE;
	make_stack_word_rule(search, 0, rule);
	return STOP_NONE;
}

CORE_GLOBAL int return_search_make_rule(struct return_search *search, struct unwind_rule *rule)
{
	if (core_is_null(search) || core_is_null(rule))
		return STOP_NO_RULE;
	search->is_guess = 0;
	if (search->is_at_entry) {
		make_stack_word_rule(search, 0, rule);
		return STOP_NONE;
	}
	/* A stack may begin here: rbp is 0, or the pc is a return address that no call has pushed.
	 */
	if (search->flags & RULE_ENTRY &&
	    ((search->knows_rbp && !search->rbp) || search->flags & RULE_UNCALLED) &&
	    !search->called && !search->calls)
		return search->is_unread ? STOP_STACK_UNREADABLE : STOP_ROOT;
	/* The word above rbp proves the frame pointer, except in a function that has not made a
	 * call. */
	if ((search->pointer_kind | search->is_chain_end) &&
	    (!search->is_interrupted || (search->is_generated && search->called != 1))) {
		/* rbp may be of the caller if the calls before the found return addresses are to
		 * other functions than that of the pc. The signs count only without a table of the
		 * file, since virtual machines jump between functions. */
		search->is_guess = search->may_hide &&
				   (search->pointer_kind == RETURN_DIRECT ||
				    (search->called && search->called - 1 != search->pointer));
		return STOP_NONE;
	}
	if (!search->called || search->called - 1 >= search->pointer)
		return end_search_by_frame_pointer(search, rule);
	search->is_guess = search->called > 1 || search->is_inner;
	make_stack_word_rule(search, search->called - 1, rule);
	return STOP_NONE;
}
