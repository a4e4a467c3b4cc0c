/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The questions of the sources (abi/question.h). A question is answered after the filters of the
 * instance and before the stacks are taken: an event that does not meet the conditions counts as
 * not produced.
 *
 * The conditions are alternatives of conjunctions, as "a && b || c". The walk over the conditions
 * knows whether the current conjunction is true so far, and ends when a whole one was true.
 */
#ifndef BPF_ANSWER_H
#define BPF_ANSWER_H

#include "comm_globs.h"
#include "condition.h"
#include "state/instance.h"
#include "state/task_ids.h"

/* By event kind. User space sets the size; one entry if no source asks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct question);
} questions SEC(".maps");

/* The patterns of all conditions on the name of a task. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct comm_globs);
} comm_patterns SEC(".maps");

#define ANSWER_NONE -1 /* the event does not meet the conditions */

/* Values are not negative: a negative number is an error code in the place of a value. */
static __always_inline u64 value_of(u64 number)
{
	return (s64)number < 0 ? 0 : number;
}

static __always_inline u64 event_number_read(const void *base, const struct event_number *number)
{
	u64 bytes = number->bytes, value = 0;

	core_one_register(bytes);
	if (!bytes || bytes > sizeof(value) ||
	    bpf_probe_read_kernel(&value, bytes, base + number->offset))
		return 0;
	return event_number_widen(value, bytes, number->is_signed);
}

static __always_inline u32 comm_compare(u64 pattern)
{
	u32 key = pattern;
	const struct comm_globs *globs = bpf_map_lookup_elem(&comm_patterns, &key);
	u8 comm[COMM_BYTES] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return globs && comm_globs_match(globs, comm) ? COMPARED_EQUAL : COMPARED_LESS;
}

static __always_inline u32 condition_compare(const struct condition *condition, const void *base)
{
	u64 number;

	switch (condition->subject) {
	case CONDITION_COMM:
		return comm_compare(condition->operand);
	case CONDITION_PID:
		number = current_ids() >> 32;
		break;
	case CONDITION_TID:
		number = (u32)current_ids();
		break;
	case CONDITION_UID:
		number = (u32)bpf_get_current_uid_gid();
		break;
	default:
		number = event_number_read(base, &condition->number);
		break;
	}
	return compare_numbers(number, condition->operand, condition->number.is_signed);
}

struct asked {
	const void *base;
	u64 kind;
	u64 is_met; /* 1: all conditions of the current alternative are met so far */
};

static long condition_try(u32 i, struct asked *asked)
{
	const struct condition *condition;
	const struct question *question;
	u32 kind = asked->kind;

	question = bpf_map_lookup_elem(&questions, &kind);
	if (!question)
		return 1;
	if (i >= question->count)
		return 1;
	core_one_register(i);
	i &= QUESTION_CONDITIONS_MAX - 1;
	condition = &question->conditions[i];
	if (condition->begins_alternative) {
		if (asked->is_met)
			return 1;
		asked->is_met = 1;
	}
	if (asked->is_met)
		asked->is_met =
			(condition_compare(condition, asked->base) & condition->accepts) != 0;
	return 0;
}

/*
 * The value of an event, 0 if the source asks for none; or ANSWER_NONE. Not inlined: the programs'
 * own stack frames are nearly full.
 */
static __noinline s64 question_answer(u32 kind, const void *base)
{
	struct asked asked = {.base = base, .kind = kind, .is_met = 1};
	const struct question *question = bpf_map_lookup_elem(&questions, &kind);

	if (!question)
		return 0;
	if (question->count)
		bpf_loop(QUESTION_CONDITIONS_MAX, condition_try, &asked, 0);
	return asked.is_met ? (s64)value_of(event_number_read(base, &question->value))
			    : ANSWER_NONE;
}

#endif
