// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Both functions go through the words of the given stack, not through a length
 * stored in the element: equal identities have equal lengths.
 */

#include <linux/atomic.h>
#include <linux/string.h>

#include "stack_element.h"

bool stackid_element_equal(const struct stackid_element *element,
			   const struct stackid_stack *stack, u64 identity)
{
	u64 difference = 0;

	if (element->identity != identity)
		return false;
	/* The words are almost always equal: memcmp() would compare bytes */
	for (u32 i = 0; i < stack->words; i++)
		difference |= element->word[i] ^ stack->word[i];
	return !difference;
}

void stackid_element_fill(struct stackid_element *element,
			  const struct stackid_stack *stack, u64 identity)
{
	atomic64_set(&element->ref_count, 1);
	element->identity = identity;
	memcpy(element->word, stack->word, stack->words * sizeof(u64));
}
