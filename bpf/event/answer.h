/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The questions of the sources (abi/question.h). A question is answered after the filters of the
 * instance and before the stacks are taken: an event that does not meet the conditions counts as
 * not produced.
 *
 * The conditions are alternatives of conjunctions, as "a && b || c". The walk over the conditions
 * knows whether the current conjunction is true so far, and ends when a whole one was true.
 *
 * The verifier of Linux 6.1 walks the body of a loop once and removes the branches that the first
 * round does not take, so the first value of `is_met` must be one that the verifier does not know.
 *
 * A span takes a lookup and an update of its key where it begins, a lookup and a deletion where it
 * ends. Both ends of a thread's span run in the thread; an interrupt that begins a span between
 * lookup and update ends it before it returns.
 *
 * Nearly all is in global functions, which the verifier goes through once and by themselves. They
 * take the base of the event as a number: what is read there is read by a helper.
 */
#ifndef BPF_ANSWER_H
#define BPF_ANSWER_H

#include "alive.h"
#include "condition.h"
#include "event_numbers.h"
#include "state/instance.h"
#include "state/map.h"

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

static __always_inline u32 comm_compare(u64 pattern)
{
	u32 key = pattern;
	const struct comm_globs *globs = bpf_map_lookup_elem(&comm_patterns, &key);
	u8 comm[COMM_BYTES] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	return globs && comm_globs_match(globs, comm) ? COMPARED_EQUAL : COMPARED_LESS;
}

struct asked {
	u64 base; /* the address that the numbers of the event are read from */
	u64 kind;
	u64 is_met; /* 1: all conditions of the current alternative are met so far */
	u64 time;   /* of the span that ends, ns */
};

/* 1 if a condition is met, else 0. */
__noinline int condition_holds(const struct condition *condition, u64 base, u64 time)
{
	u64 number = time;

	if (!condition)
		return 0;
	if (condition->subject == CONDITION_COMM)
		return (comm_compare(condition->operand) & condition->accepts) != 0;
	if (condition->subject != CONDITION_TIME)
		number = subject_number(condition->subject, &condition->number, base);
	return (compare_numbers(number, condition->operand, condition->number.is_signed) &
		condition->accepts) != 0;
}

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
		asked->is_met = condition_holds(condition, asked->base, asked->time);
	return 0;
}

/* The spans that have begun. User space counts those that are left at the end. */
HASH_MAP(spans, 1, struct span_key, struct span_begins);

static __always_inline void span_key_set(struct span_key *key, const struct question *question,
					 u64 base)
{
	key->span = question->span;
	key->by = subject_number(question->key_subject, &question->key, base);
}

__noinline int span_begin(const struct question *question, u64 base)
{
	struct span_begins fresh = {};
	struct span_begins *begins;
	struct span_key key;
	u64 depth;

	if (!question)
		return 0;
	span_key_set(&key, question, base);
	begins = bpf_map_lookup_elem(&spans, &key);
	if (!begins) {
		fresh.depth = 1;
		fresh.begin[0] = bpf_ktime_get_ns();
		if (bpf_map_update_elem(&spans, &key, &fresh, BPF_ANY))
			atomic_add_relaxed(&spans_unkept, 1);
		return 0;
	}
	if (question->key_subject != CONDITION_TID) {
		begins->begin[0] = bpf_ktime_get_ns();
		return 0;
	}
	depth = begins->depth;
	begins->depth = depth + 1;
	core_one_register(depth);
	if (depth < SPAN_DEPTH_MAX)
		begins->begin[depth & (SPAN_DEPTH_MAX - 1)] = bpf_ktime_get_ns();
	else
		atomic_add_relaxed(&spans_unkept, 1);
	return 0;
}

/* The time of the span that ends, or ANSWER_NONE. */
__noinline s64 span_end(const struct question *question, u64 base)
{
	u64 now = bpf_ktime_get_ns(), depth, begin = 0;
	struct span_begins *begins;
	struct span_key key;

	if (!question)
		return ANSWER_NONE;
	span_key_set(&key, question, base);
	begins = bpf_map_lookup_elem(&spans, &key);
	depth = begins ? begins->depth : 0;
	if (!begins || !depth) {
		atomic_add_relaxed(&spans_unbegun, 1);
		return ANSWER_NONE;
	}
	begins->depth = --depth;
	core_one_register(depth);
	if (depth < SPAN_DEPTH_MAX)
		begin = begins->begin[depth & (SPAN_DEPTH_MAX - 1)];
	if (!depth)
		bpf_map_delete_elem(&spans, &key);
	return begin ? (s64)(now - begin) : ANSWER_NONE;
}

/* The value of an event, 0 if the source asks for none; or ANSWER_NONE. */
__noinline s64 question_answer(u32 kind, u64 base)
{
	struct asked asked = {.base = base, .kind = kind};
	const struct question *question = bpf_map_lookup_elem(&questions, &kind);

	if (!question)
		return 0;
	if (question->span_role == SPAN_BEGIN) {
		span_begin(question, base);
		return ANSWER_NONE;
	}
	if (question->span_role == SPAN_END) {
		asked.time = span_end(question, base);
		if ((s64)asked.time < 0)
			return ANSWER_NONE;
	}
	if (config.alive && question->span_role == ALIVE_END) {
		alive_end(question, base);
		return ANSWER_NONE;
	}
	asked.is_met = 1 + core_unknown_zero(question->count);
	if (question->count)
		bpf_loop(QUESTION_CONDITIONS_MAX, condition_try, &asked, 0);
	if (config.alive && question->span_role == ALIVE_CALL) {
		alive_call(question, base, asked.is_met);
		return ANSWER_NONE;
	}
	if (!asked.is_met)
		return ANSWER_NONE;
	if (config.alive && question->span_role == ALIVE_BEGIN)
		return alive_begin(question, base);
	if (question->span_role == SPAN_END)
		return asked.time;
	return question_value(question, base);
}

/*
 * An address as a number, as a helper gives it: global functions take no pointer to the context of
 * a program.
 */
static __always_inline u64 address_number(const void *pointer)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

#endif
