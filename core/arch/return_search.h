/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the caller of a frame that neither a table nor its own code explains. In such code rbp may
 * be the frame pointer, the caller's frame pointer, or any number. If rbp is the caller's frame
 * pointer, a step by rbp would silently skip the direct caller. The search therefore looks at the
 * words from rsp up to the frame pointer:
 *
 *   - A word after `call T`, with T at most FUNCTION_BYTES_MAX before the pc, is the return
 *     address: T is the start of the function. Among several such words, the one with the nearest T
 *     counts, since every T is the start of a function, and the pc lies in the function that starts
 *     last. The word of a frame pointer is proven in the same way. Among several words after calls
 *     of the same T, the frame pointer's counts: the others may be copies (an argument, a local
 *     variable) or remains of earlier calls. The word at rsp counts before all others.
 *   - If no word up to the frame pointer lies after a call, no caller can be in between. The frame
 *     pointer is then proven if it leads to a word after a call, or to the end of the chain of
 *     frame pointers. A function that does not use rbp as frame pointer would have its return
 *     address among these words.
 *   - Otherwise the frame pointer is a guess: the step is taken, and the stack is marked. A step to
 *     a word further out than rsp is a guess, too: remains of earlier calls lie there.
 *   - At a function's entry rsp points to the return address, by definition.
 *   - In a frame that has made a call, rbp is its own frame pointer if rbp leads to a word after a
 *     call. The same holds for generated code, unless a return address is at rsp. The words between
 *     rsp and such a frame pointer are data of the frame, even if one of them is the return address
 *     of an earlier call.
 *
 * The embedder's loop reads the words; an unreadable word ends the search.
 */
#ifndef CORE_RETURN_SEARCH_H
#define CORE_RETURN_SEARCH_H

#include <stdbool.h>

#include "arch/unwinding.h"
#include "env.h"
#include "rule.h"
#include "walk_memory.h"

/*
 * Begins a search in the frame with these registers; the caller has set search->flags and
 * search->word. Sets search->words, the number of words to look at; 0: the stack need not be
 * searched.
 */
CORE_GLOBAL int return_search_set_registers(struct return_search *search,
					    const struct unwind_registers *registers);

/*
 * Sets search->address to the address of the stack word that the search examines as its i-th one.
 * 0: the search has fewer words.
 */
CORE_GLOBAL int return_search_choose_word(struct return_search *search, u32 i);

/*
 * True if search->value, the stack word just read, may be a return address. The caller then sets
 * search->before to the eight bytes of code before that address.
 */
CORE_GLOBAL int return_search_may_be_return_address(struct return_search *search);

/*
 * Examines the stack word search->value with the code before it, search->before. Returns non-zero
 * if the search is over.
 */
CORE_GLOBAL int return_search_check_code_before(struct return_search *search);

/*
 * True if search->value, a return address with the code bytes search->before directly before it,
 * follows a direct call of a function that may contain search->pc.
 */
CORE_GLOBAL int return_search_is_after_own_call(const struct return_search *search);

/*
 * Makes the rule from the result of the search, and sets search->is_guess. Returns an enum
 * stop_reason; STOP_ROOT: the frame is the outermost one.
 */
CORE_GLOBAL int return_search_make_rule(struct return_search *search, struct unwind_rule *rule);

#endif
