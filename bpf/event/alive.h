/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Things that live from one event to another (abi/question.h), such as blocks of malloc. The event
 * at which a thing begins is recorded at once, with its stacks; the map `alive` holds the things
 * that have not ended, and the reader keeps only their events.
 *
 * Where a thing begins at the return of a function, the value is read from the arguments at the
 * function's entry, and the key, such as the address of the block, is the result. A call inside of
 * such a call, as that of mmap() in malloc(), begins no thing. The stack pointers of both calls are
 * compared: inside of a call the stack is deeper. The same comparison drops a call that ended by
 * longjmp().
 */
#ifndef BPF_ALIVE_H
#define BPF_ALIVE_H

#include "event_numbers.h"
#include "kernel/kernel_types.h"
#include "state/map.h"

/* The outermost call of each thread, by the kernel's thread id. */
struct alive_call {
	u64 sp;	       /* at the entry; 0: the call has returned */
	u64 number;    /* value of the event */
	u64 place;     /* address where the function stores the key; 0: the result is the key */
	u64 is_wanted; /* 1: the call meets the conditions */
};

HASH_MAP(alive, 1, struct span_key, struct alive_thing);
MAP_OF(alive_calls, BPF_MAP_TYPE_LRU_HASH, 0, 1, u32, struct alive_call);

/* 1: begins and ends are noted. User space sets the flag while all sources are attached, so no end
 * is missed. */
u64 alive_open;

u64 spans_unbegun; /* ends of which no begin is known */
u64 spans_unkept;  /* begins for which there was no room */

#define ERROR_ADDRESS ((u64)-4095) /* keys from here on are error codes, -1 is MAP_FAILED */

static __always_inline u64 stack_pointer_at(u64 base)
{
	return BPF_CORE_READ((const struct pt_regs___kernel *)base, sp);
}

static __always_inline void alive_key_set(struct span_key *key, const struct question *question,
					  u64 by)
{
	key->by = by;
	key->span = question->span ? current_ids() >> 32 : 0;
}

__noinline int alive_call(const struct question *question, u64 base, u64 is_wanted)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct alive_call fresh = {};
	struct alive_call *call;

	if (!config.alive || !question || !alive_open)
		return 0;
	fresh.sp = stack_pointer_at(base);
	fresh.is_wanted = is_wanted;
	call = bpf_map_lookup_elem(&alive_calls, &tid);
	if (call && call->sp > fresh.sp)
		return 0;
	fresh.number = question_value(question, base);
	fresh.place = event_number_read(base, &question->key);
	if (call)
		*call = fresh;
	else if (bpf_map_update_elem(&alive_calls, &tid, &fresh, BPF_ANY))
		atomic_add_relaxed(&spans_unkept, 1);
	return 0;
}

/* Takes the value and the key from the call that returns here. False: the call begins no thing. */
static __always_inline bool alive_take_call(u64 base, u64 *number, u64 *by)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct alive_call *call = bpf_map_lookup_elem(&alive_calls, &tid);

	if (!call || !call->sp || stack_pointer_at(base) < call->sp + RETURN_ADDRESS_BYTES)
		return false;
	call->sp = 0;
	*number = call->number;
	if (call->place) /* the result says whether the function has stored a key there */
		*by = (u32)*by ? 0 : memory_number(call->place, sizeof(u64), NUMBER_IN_USER_MEMORY);
	return call->is_wanted;
}

/* The number is unique: the CPU is in it, and the clock goes on between two begins on one CPU. */
static __always_inline u64 alive_serial(void)
{
	u64 serial = bpf_ktime_get_ns() * CONFIG_CPUS_MAX + bpf_get_smp_processor_id();

	return serial & (~0ULL >> 1);
}

/* The serial number of what begins, as the value of the event in the ring; or ANSWER_NONE. */
__noinline s64 alive_begin(const struct question *question, u64 base)
{
	struct alive_thing thing = {};
	struct span_key key;
	u64 by, number;

	if (!config.alive || !question || !alive_open)
		return ANSWER_NONE;
	number = question_value(question, base);
	by = subject_number(question->key_subject, &question->key, base);
	if (question->has_call && !alive_take_call(base, &number, &by))
		return ANSWER_NONE;
	if (!by || by >= ERROR_ADDRESS)
		return ANSWER_NONE;
	alive_key_set(&key, question, by);
	thing.serial = alive_serial();
	thing.number = number;
	if (!bpf_map_update_elem(&alive, &key, &thing, BPF_ANY))
		return thing.serial;
	atomic_add_relaxed(&spans_unkept, 1);
	return ANSWER_NONE;
}

__noinline int alive_end(const struct question *question, u64 base)
{
	struct span_key key;
	u64 by;

	if (!config.alive || !question || !alive_open)
		return 0;
	by = subject_number(question->key_subject, &question->key, base);
	alive_key_set(&key, question, by);
	if (by && bpf_map_delete_elem(&alive, &key))
		atomic_add_relaxed(&spans_unbegun, 1);
	return 0;
}

#endif
