/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The return address of a frame that no rule covers is in x30, as long as an interrupted function
 * has made no call, or in the frame record that x29 points to. An address directly after `bl T`,
 * with T at most FUNCTION_BYTES_MAX before the pc, is proven to be the return address: T is the
 * start of the function. If x30 and the frame record both prove one, the one with the nearer T
 * counts, since the pc lies in the function that starts last.
 *
 * An address after any call, but outside of the mapping that holds the pc, shows that the function
 * has made no call if x30 has it: x30 would lie in the function behind one. If the frame record has
 * the same address, the record is the function's own. In the vdso, which has no tables and is
 * called through pointers, this is a proof. In other code it is a guess: code that is jumped to
 * from another mapping (a runtime's generated code jumps to its library) has an old x30.
 *
 * A proof of x30 does not prove sp, which the function may have moved for its variables: the
 * caller's sp is not known after the step. After a guess, sp counts as unmoved. At a function's
 * entry it is.
 *
 * Without a proof the step by x29 is a guess: x29 may be the caller's. x29 = 0 marks the end of the
 * stack (AAPCS64, "The Frame Pointer").
 *
 * The search looks at two words: word 0 is x30, word 1 is the return address in the frame record.
 * The embedder reads the stack for word 0, too, but the search takes the value of x30 instead.
 */
#include "arch/return_search.h"

#define FUNCTION_BYTES_MAX (16 << 10) /* the most bytes from a function's start to its pc */
#define ADDRESS_MIN (64 << 10)	      /* no code is mapped at lower addresses (vm.mmap_min_addr) */
#define ADDRESS_MAX (1ULL << 52)
#define STACK_NEAR (8 << 20) /* a frame pointer points at most this far above sp */
#define RECORD_LINK 8	     /* offset of the return address in a frame record */
#define WORD_LINK 0
#define WORD_RECORD 1
#define NO_POINTER 0

CORE_GLOBAL int return_search_set_registers(struct return_search *search,
					    const struct unwind_registers *registers)
{
	u64 link;

	if (core_is_null(search) || core_is_null(registers))
		return 0;
	link = strip_code_signature(registers, registers->value[REGISTER_LINK]);
	search->pc = registers->value[REGISTER_PC];
	search->rsp = registers->value[REGISTER_SP];
	search->rbp = registers->value[REGISTER_FP];
	search->knows_rbp = registers->known >> REGISTER_FP & 1;
	search->link = search->is_interrupted && registers->known >> REGISTER_LINK & 1 ? link : 0;
	search->code_mask = registers->value[REGISTER_CODE_MASK];
	search->is_at_entry = registers->at_entry;
	search->pointer = (search->knows_rbp && search->rbp >= search->rsp &&
			   search->rbp - search->rsp < STACK_NEAR && !(search->rbp & 7))
				  ? WORD_RECORD
				  : NO_POINTER;
	search->first = search->link ? WORD_LINK : WORD_RECORD;
	search->words = search->pointer + 1 - search->first;
	search->calls = RETURN_NO_CALL;
	search->pointer_kind = RETURN_NO_CALL;
	search->target = 0;
	search->called = 0;
	search->is_inner = 0;
	search->is_outside = 0;
	search->is_unread = 0;
	if (search->is_at_entry)
		search->words = 0;
	return 0;
}

CORE_GLOBAL int return_search_choose_word(struct return_search *search, u32 i)
{
	if (core_is_null(search) || i >= search->words)
		return 0;
	search->at = search->first + i;
	search->address = search->at == WORD_RECORD ? search->rbp + RECORD_LINK : search->rsp;
	search->value = 0;
	search->is_unread = 1;
	return 1;
}

CORE_GLOBAL int return_search_may_be_return_address(struct return_search *search)
{
	if (core_is_null(search))
		return 0;
	search->is_unread = 0;
	search->value = search->at == WORD_LINK ? search->link : search->value & search->code_mask;
	return search->value - ADDRESS_MIN < ADDRESS_MAX && !(search->value & 3);
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

/*
 * x30 may still hold the return address of a call that the function itself has made: then x30
 * points into the function.
 */
CORE_GLOBAL int return_search_check_code_before(struct return_search *search)
{
	u64 target = 0;
	u32 kind;

	if (core_is_null(search))
		return 0;
	kind = return_address_kind(search, &target);
	if (search->at == WORD_LINK) {
		search->calls = kind;
		search->target = target;
		search->called = kind == RETURN_OF_CALL;
		search->is_inner = search->pc - search->value < search->pc - target;
		search->is_outside = kind != RETURN_NO_CALL && search->mapping_end &&
				     search->value - search->mapping_start >=
					     search->mapping_end - search->mapping_start;
	} else {
		search->pointer_kind = kind;
		if (search->is_outside && search->value == search->link) {
			search->is_outside = 0;
			if (search->is_vdso)
				search->pointer_kind = RETURN_OF_CALL;
		}
		if (kind == RETURN_OF_CALL && search->called && target >= search->target)
			search->called = 0;
	}
	return 0;
}

CORE_PART void make_found_link_rule(const struct return_search *search, struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){
		.cfa_register = REGISTER_SP,
		.operand = search->is_at_entry | search->is_guess ? 0 : OPERAND_LOSES_SP,
		.base = RULE_BASE_CFA,
		.flags = RULE_FRAME_POINTER,
	};
}

CORE_GLOBAL int return_search_make_rule(struct return_search *search, struct unwind_rule *rule)
{
	if (core_is_null(search) || core_is_null(rule))
		return STOP_NO_RULE;
	search->is_guess = 0;
	if (search->is_at_entry || search->called || search->is_outside) {
		search->is_guess = !search->is_at_entry &&
				   (search->called ? search->is_inner : !search->is_vdso);
		make_found_link_rule(search, rule);
		return STOP_NONE;
	}
	if (search->is_unread)
		return STOP_STACK_UNREADABLE;
	if (search->pointer != NO_POINTER) {
		search->is_guess = search->pointer_kind != RETURN_OF_CALL;
		return STOP_NONE;
	}
	if (search->calls != RETURN_NO_CALL) {
		search->is_guess = 1;
		make_found_link_rule(search, rule);
		return STOP_NONE;
	}
	return search->knows_rbp && !search->rbp ? STOP_ROOT : STOP_NO_RULE;
}
