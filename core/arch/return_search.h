/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the caller of a frame that neither a table nor its own code explains. In such code rbp may
 * be the frame pointer, the caller's frame pointer, or any number. In the second case a step by rbp
 * would silently skip the direct caller. The search therefore looks at the words from rsp up to the
 * frame pointer:
 *
 *   - A word behind `call T`, with T at most FUNCTION_BYTES_MAX before the pc, is the return
 *     address: T is the start of the function. Among several such words, the one with the nearest
 *     T counts, since every T is the start of a function, and the pc lies in the function that
 *     starts last. The word of a frame pointer is proven in the same way. Among several words
 *     behind calls of the same T, the frame pointer's counts: the others may be copies (an
 *     argument, a local variable) or remains of earlier calls. The word at rsp counts before all
 *     others.
 *   - If no word up to the frame pointer lies behind a call, no caller can be in between. The
 *     frame pointer is then proven if it leads to a word behind a call, or to the end of the
 *     chain of frame pointers. A function that does not use rbp as frame pointer would have its
 *     return address among these words.
 *   - Otherwise the frame pointer is a guess: the step is taken, and the stack is marked. A step
 *     to a word further out than rsp is a guess, too: remains of earlier calls lie there.
 *   - At a function's entry rsp points to the return address, by definition.
 *   - In a frame that has made a call, rbp is its own frame pointer if rbp leads to a word behind
 *     a call. The same holds for generated code, unless a return address is at rsp. The words
 *     below such a frame pointer are data of the frame, also if a call has left one of them.
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
 * Begins a search in the frame with these registers; search->flags and search->word are set before.
 * Sets search->words, the number of words to look at; 0: none.
 */
CORE_GLOBAL int return_search_begin(struct return_search *search,
				    const struct unwind_registers *registers);

/* Sets search->address to the place of the i-th word. 0: the search has fewer words. */
CORE_GLOBAL int return_search_next(struct return_search *search, u32 i);

/* True if search->value, the word, may be a return address: then set search->before. */
CORE_GLOBAL int return_search_wants(struct return_search *search);

/* Judges the word by search->before. Not 0: the search is over. */
CORE_GLOBAL int return_search_take(struct return_search *search);

/*
 * True if search->value, a return address with search->before in front of it, lies behind a direct
 * call of a function that may contain search->pc.
 */
CORE_GLOBAL int return_search_is_of_call(const struct return_search *search);

/*
 * Makes the rule from the result, and sets search->is_guess. Returns an enum stop_reason;
 * STOP_ROOT: there is no caller.
 */
CORE_GLOBAL int return_search_end(struct return_search *search, struct unwind_rule *rule);

#endif
