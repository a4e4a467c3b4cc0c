/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The numbers of an event that a question reads (abi/question.h). The address of the event
 * is passed as a number, because a helper reads the memory there.
 */
#ifndef BPF_EVENT_NUMBERS_H
#define BPF_EVENT_NUMBERS_H

#include "condition.h"
#include "state/instance.h"
#include "state/task_ids.h"

#define ANSWER_NONE -1 /* the event does not meet the conditions */

/* Values are not negative: a negative number is an error code in the place of a value. */
static __always_inline u64 value_of(u64 number)
{
	return (s64)number < 0 ? 0 : number;
}

u64 numbers_unread;

/* Reads `bytes` bytes, 1 to 8, of the event as a number whose upper bytes are zero. */
static __always_inline u64 event_bytes(u64 address, u64 bytes)
{
	u64 value = 0;

	core_one_register(bytes);
	if (!bytes || bytes > sizeof(value) ||
	    bpf_probe_read_kernel(&value, bytes, (const void *)address))
		return 0;
	return value;
}

/* The same for memory of the kernel or of the current task. */
__noinline u64 memory_number(u64 address, u64 bytes, u32 place)
{
	const void *from = (const void *)address;
	u64 value = 0;
	long err;

	core_one_register(bytes);
	if (!bytes || bytes > sizeof(value))
		return 0;
	err = place == NUMBER_IN_USER_MEMORY ? bpf_probe_read_user(&value, bytes, from)
					     : bpf_probe_read_kernel(&value, bytes, from);
	if (err)
		atomic_add_relaxed(&numbers_unread, 1);
	return err ? 0 : value;
}

/* Reads the number to which a pointer in the event leads, step by step. */
__noinline u64 number_behind(u64 pointer, const struct event_number *number)
{
	u32 i;

	if (!number)
		return 0;
	for (i = 0; i < NUMBER_STEPS_MAX - 1; i++) {
		if (i + 1 >= number->steps)
			break;
		pointer = memory_number(pointer + number->displacement[i], sizeof(pointer),
					number->place);
	}
	return memory_number(pointer + number->displacement[i], number->bytes, number->place);
}

__noinline u64 event_number_read(u64 base, const struct event_number *number)
{
	u64 value;

	if (!number || !number->bytes)
		return 0;
	if (number->place == NUMBER_CONSTANT)
		return number->displacement[0];
	value = event_bytes(base + number->offset, number->steps ? sizeof(value) : number->bytes);
	if (number->steps)
		value = number_behind(value, number);
	return event_number_widen(value, number->bytes, number->is_signed);
}

static __always_inline u64 subject_number(u32 subject, const struct event_number *number, u64 base)
{
	switch (subject) {
	case CONDITION_PID:
		return current_ids() >> 32;
	case CONDITION_TID:
		return (u32)current_ids();
	case CONDITION_UID:
		return (u32)bpf_get_current_uid_gid();
	default:
		return event_number_read(base, number);
	}
}

/* The value that a question asks for, of an event that has all its numbers. */
static __always_inline u64 question_value(const struct question *question, u64 base)
{
	u64 value = event_number_read(base, &question->value);

	if (question->factor.bytes)
		value *= event_number_read(base, &question->factor);
	return value_of(value);
}

#endif
