/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack field of an event: an id, a cookie, a position in the ring, or the reason why there is
 * no stack.
 */
#ifndef BPF_STACK_FIELD_H
#define BPF_STACK_FIELD_H

#include <bpf/bpf_helpers.h>

#include "ring.h"

/* The stack field of a slot and its two flag bits. */
struct stack_field {
	u32 value;
	u32 state;
};

/* A field as one number that is not 0: functions that are not inlined cannot return structs. */
#define STACK_FIELD_WORD(value, state) ((u64)(value) | (u64)(state) << 32 | 1ULL << 63)

static __always_inline struct stack_field stack_field_of_word(u64 word)
{
	return (struct stack_field){word, word >> 32 & 3};
}

static __always_inline struct stack_field stack_field_of_reason(u32 reason)
{
	return (struct stack_field){reason, STATE_NONE};
}

static __always_inline struct stack_field stack_field_of_cookie(u32 cookie)
{
	return (struct stack_field){cookie, STATE_COOKIE};
}

#endif
