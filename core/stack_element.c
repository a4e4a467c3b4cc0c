/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Both functions go through the words of the given stack, not through a length stored in the
 * element: equal identities have equal lengths.
 */
#include "stack_element.h"

#include "word_chunk.h"

struct comparison {
	const struct table_view *element;
	const struct stack *stack;
	u64 difference;
};

CORE_PART void compare_words(struct comparison *comparison, u32 at, u32 count)
{
	const u64 *a = &comparison->element->word[at];
	const u64 *b = &comparison->stack->word[at];
	u64 difference = 0;

	for (u32 i = 0; i < count; i++)
		difference |= a[i] ^ b[i];
	comparison->difference |= difference;
}

static long compare_chunk(u32 i, void *arg)
{
	u32 first = word_chunk_begin(i);

	if (first >= STACK_WORDS_MAX)
		return 1;
	compare_words(arg, first, WORD_CHUNK);
	return 0;
}

CORE_GLOBAL int stack_element_equal(const struct table_view *element, const struct stack *stack,
				    u64 identity)
{
	struct comparison comparison = {.element = element, .stack = stack};
	u32 words;

	if (core_is_null(element) || core_is_null(stack) || element->identity != identity)
		return 0;
	words = stack->words;
	words_each(words, compare_chunk, compare_words, &comparison);
	return comparison.difference == 0;
}

struct filling {
	struct table_view *element;
	const struct stack *stack;
};

CORE_PART void fill_words(struct filling *filling, u32 at, u32 count)
{
	__builtin_memcpy(&filling->element->word[at], &filling->stack->word[at],
			 count * sizeof(u64));
}

static long fill_chunk(u32 i, void *arg)
{
	u32 first = word_chunk_begin(i);

	if (first >= STACK_WORDS_MAX)
		return 1;
	fill_words(arg, first, WORD_CHUNK);
	return 0;
}

CORE_GLOBAL int stack_element_fill(struct table_view *element, const struct stack *stack,
				   u64 identity)
{
	struct filling filling = {.element = element, .stack = stack};
	u32 words;

	if (core_is_null(element) || core_is_null(stack))
		return -EINVAL;
	words = stack->words;
	element->ref_count = 1;
	element->identity = identity;
	words_each(words, fill_chunk, fill_words, &filling);
	return 0;
}
