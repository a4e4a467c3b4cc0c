// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both functions walk the words of the given stack, not a length stored in the
 * element: equal identities have equal lengths.
 */

#include <linux/atomic.h>
#include <linux/string.h>

#include "stack_element.h"

struct comparison {
	const struct stackid_element *element;
	const struct stackid_stack *stack;
	u64 difference;
};

static void compare_words(struct comparison *comparison, u32 count)
{
	const u64 *a = comparison->element->word;
	const u64 *b = comparison->stack->word;
	u64 difference = 0;

	for (u32 i = 0; i < count; i++)
		difference |= a[i] ^ b[i];
	comparison->difference |= difference;
}

int stackid_element_equal(const struct stackid_element *element,
			  const struct stackid_stack *stack, u64 identity)
{
	struct comparison comparison = { .element = element, .stack = stack };
	u32 words;

	if (element->identity != identity)
		return 0;
	words = stack->words;
	compare_words(&comparison, words);
	return comparison.difference == 0;
}

struct filling {
	struct stackid_element *element;
	const struct stackid_stack *stack;
};

static void fill_words(struct filling *filling, u32 count)
{
	memcpy(filling->element->word, filling->stack->word,
	       count * sizeof(u64));
}

void stackid_element_fill(struct stackid_element *element,
			  const struct stackid_stack *stack, u64 identity)
{
	struct filling filling = { .element = element, .stack = stack };
	u32 words = stack->words;

	atomic64_set(&element->ref_count, 1);
	element->identity = identity;
	fill_words(&filling, words);
}
