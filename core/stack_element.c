/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both walk the stack's own words, never the element's idea of its length: two equal identities
 * have equal lengths. */
#include "stack_element.h"

CORE_GLOBAL int stack_element_equal(const struct table_view *element, const struct stack *stack,
				    u64 identity)
{
	u64 difference = 0;
	u32 words;

	if (core_is_null(element) || core_is_null(stack) || element->identity != identity)
		return 0;
	words = stack->words;
	for (u32 i = 0; i < STACK_WORDS_MAX && i < words; i++)
		difference |= element->word[i] ^ stack->word[i];
	return difference == 0;
}

CORE_GLOBAL int stack_element_fill(struct table_view *element, const struct stack *stack,
				   u64 identity)
{
	u32 words;

	if (core_is_null(element) || core_is_null(stack))
		return -EINVAL;
	words = stack->words;
	element->ref_count = 1;
	element->identity = identity;
	for (u32 i = 0; i < STACK_WORDS_MAX && i < words; i++)
		element->word[i] = stack->word[i];
	return 0;
}
