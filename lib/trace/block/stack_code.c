/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks are numbered in the order of their first use, so a new stack's index lies just above the
 * highest index before it. */
#include "trace/block/stack_code.h"

_Static_assert(REASON_COUNT <= KEY_STACK_BASE, "a reason must not look like a stack");

void stack_code_put(struct byte_buffer *column, u32 code, u32 *newest)
{
	u32 index = stack_code_index(code);

	if (!stack_code_has_stack(code)) {
		byte_buffer_varint(column, code);
		return;
	}
	byte_buffer_varint(column, KEY_STACK_BASE + zigzag((s64)index - *newest));
	if (index > *newest)
		*newest = index;
}

u32 stack_code_get(struct byte_cursor *column, u32 stacks, u32 *newest)
{
	u64 code = byte_cursor_varint(column);
	u64 index;

	if (code < REASON_COUNT)
		return (u32)code;
	index = *newest + (u64)unzigzag(code - KEY_STACK_BASE);
	if (code < KEY_STACK_BASE || index >= stacks) {
		column->bad = true;
		return 0;
	}
	if (index > *newest)
		*newest = (u32)index;
	return KEY_STACK_BASE + (u32)index;
}
