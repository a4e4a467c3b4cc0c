/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of an event as one number, its code: the reason of its absence, or KEY_STACK_BASE + its
 * index. abi/trace_file.h describes the code in a column at KEY_STACK_BASE; `newest` is the highest
 * index in the block so far, at first 0.
 */
#ifndef LIB_TRACE_STACK_CODE_H
#define LIB_TRACE_STACK_CODE_H

#include "trace/bytes/byte_buffer.h"
#include "trace/event.h"
#include "trace_file.h"

static inline u32 stack_code(u32 index, u8 reason)
{
	return index == TRACE_NO_STACK ? reason : index + KEY_STACK_BASE;
}

static inline bool stack_code_has_stack(u32 code)
{
	return code >= KEY_STACK_BASE;
}

static inline u32 stack_code_index(u32 code)
{
	return stack_code_has_stack(code) ? code - KEY_STACK_BASE : TRACE_NO_STACK;
}

static inline u8 stack_code_reason(u32 code)
{
	return stack_code_has_stack(code) ? 0 : (u8)code;
}

void stack_code_put(struct byte_buffer *column, u32 code, u32 *newest);
/* An invalid reason, or an index that is not below `stacks`, makes the cursor bad. */
u32 stack_code_get(struct byte_cursor *column, u32 stacks, u32 *newest);

#endif
