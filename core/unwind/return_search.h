/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The caller of a frame that neither a table nor its own code explains. Such code may have a frame
 * pointer, or rbp may be its caller's frame pointer, or any number. A step by rbp then leaves out
 * the direct caller without a trace. So the words from rsp up to the frame pointer are looked at:
 *
 *   - A word behind `call T`, with T at most FUNCTION_BYTES_MAX before the pc, is the return
 *     address: T is the start of the function. Of several the one with the nearest T counts, since
 *     every T is a start of a function, and the pc lies in the function that starts last.
 *     That proves a frame pointer, too, whose return address it is. Of several words behind calls
 *     of T the frame pointer's counts: the others may be copies (an argument, a local variable)
 *     or what calls of long ago have left. The word at rsp counts before all others.
 *   - If no word up to the frame pointer lies behind a call, no caller can be between, so the frame
 *     pointer is proven, if a call or the end of the chain of frame pointers is where it leads. A
 *     function that rbp is not the frame pointer of has its return address there.
 *   - Otherwise the frame pointer is a guess: the step is taken, and its stack is marked. So is a
 *     step to a word further out than rsp: words lie there that calls of long ago have left.
 *   - At a function's entry the return address is where rsp points, by definition.
 *   - A frame that has made a call has its own frame pointer in rbp if rbp leads to a word behind a
 *     call; so has generated code, but for a return address at rsp. The words below such a frame
 *     pointer are data of the frame, also where a call has left one of them.
 *
 * The embedder's loop reads the words; a word that cannot be read ends the search.
 */
#ifndef CORE_RETURN_SEARCH_H
#define CORE_RETURN_SEARCH_H

#include <stdbool.h>

#include "env.h"
#include "return_memory.h"
#include "rule.h"

/* call *operand: 0xff, then a byte whose bits 3 to 5 are 2. 0: it is one, else below 2^14. */
CORE_PART u64 call_indirect(u64 bytes)
{
	return (bytes & 0x38ff) ^ 0x10ff;
}

#define CALL_DIRECT(bytes)                                                                         \
	((u8)((bytes) >> 24) == 0xe8) /* call rel32 ends with the eight bytes                      \
				       */

/* Whether a call ends with these eight bytes, of whatever length. Products, as each comparison is a
 * branch that the verifier follows. */
CORE_PART bool is_behind_call(u64 bytes)
{
	return CALL_DIRECT(bytes) ||
	       call_indirect(bytes >> 8) * call_indirect(bytes >> 16) *
			       call_indirect(bytes >> 32) ==
		       0 ||
	       call_indirect(bytes >> 40) * call_indirect(bytes >> 48) == 0;
}

/* Begins a search, with search->flags and search->word, in the frame that has these registers:
 * search->words says how many words are to be looked at; 0: none. */
CORE_GLOBAL int return_search_begin(struct return_search *search,
				    const struct unwind_registers *registers);

/* Sets search->address to where the i-th word of the search lies. 0: the search has fewer words. */
CORE_GLOBAL int return_search_next(struct return_search *search, u32 i);

/* Whether search->value, that word, may be a return address: search->before is needed then. */
CORE_GLOBAL int return_search_wants(struct return_search *search);

/* Takes the word with search->before. Not 0: no other word matters. */
CORE_GLOBAL int return_search_take(struct return_search *search);

/* True if search->value, a return address with search->before in front of it, lies behind a direct
 * call of a function that may be the one of search->pc. */
CORE_GLOBAL int return_search_is_of_call(const struct return_search *search);

/* Makes the rule by what was found, and search->is_guess. Returns an enum stop_reason: STOP_ROOT:
 * there is no caller. */
CORE_GLOBAL int return_search_end(struct return_search *search, struct unwind_rule *rule);

#endif
