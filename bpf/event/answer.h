/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The questions of the sources (abi/question.h). A question is answered after the filters of the
 * instance and before the stacks are taken: an event that does not meet the conditions counts as
 * not produced. The first condition may refuse an event before the filters do
 * (is_event_refused_early()).
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
 * Nearly all of the code is in global functions: the verifier goes through each of them once, apart
 * from its callers. Global functions take the base of the event as a number, and a helper reads the
 * memory at that address.
 */
#ifndef BPF_ANSWER_H
#define BPF_ANSWER_H

#include "condition.h"
#include "kernel/kernel_types.h"
#include "state/instance.h"
#include "state/map.h"
#include "state/task_ids.h"
#include "thread_count.h"

/*
 * The numbers of an event that a question reads (abi/question.h). The address of the event
 * is passed as a number, because a helper reads the memory there.
 */

#define ANSWER_NONE -1 /* result: the event does not meet the conditions */

/* Values are not negative: a negative number is an error code in the place of a value. */
static __always_inline u64 nonnegative_value(u64 number)
{
	return (s64)number < 0 ? 0 : number;
}

u64 numbers_unread;
/* number of events that did not meet their conditions; counted if config.count_unmet is set */
u64 conditions_unmet;

/* Reads `bytes` bytes, 1 to 8, of the event as a number whose upper bytes are zero. */
static __always_inline u64 read_event_bytes(u64 address, u64 bytes)
{
	u64 value = 0;

	core_one_register(bytes);
	if (!bytes || bytes > sizeof(value) ||
	    bpf_probe_read_kernel(&value, bytes, (const void *)address))
		return 0;
	return value;
}

/* Reads a number of `bytes` bytes from memory of the kernel or of the current task. */
__noinline u64 read_number_from_memory(u64 address, u64 bytes, u32 place)
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
__noinline u64 read_number_through_pointers(u64 pointer, const struct event_number *number)
{
	u32 i;

	if (!number)
		return 0;
	for (i = 0; i < NUMBER_STEPS_MAX - 1; i++) {
		if (i + 1 >= number->steps)
			break;
		pointer = read_number_from_memory(pointer + number->displacement[i],
						  sizeof(pointer), number->place);
	}
	return read_number_from_memory(pointer + number->displacement[i], number->bytes,
				       number->place);
}

__noinline u64 event_number_read(u64 base, const struct event_number *number)
{
	u64 value;

	if (!number || !number->bytes)
		return 0;
	if (number->place == NUMBER_CONSTANT)
		return number->displacement[0];
	value = read_event_bytes(base + number->offset,
				 number->steps ? sizeof(value) : number->bytes);
	if (number->steps)
		value = read_number_through_pointers(value, number);
	return event_number_widen(value, number->bytes, number->is_signed);
}

/*
 * Reads a number of the event as event_number_read() does, but without a call if the number lies in
 * the event itself.
 */
static __always_inline u64 read_number_in_event(u64 base, const struct event_number *number)
{
	if (number->place != NUMBER_IN_EVENT)
		return event_number_read(base, number);
	return event_number_widen(read_event_bytes(base + number->offset, number->bytes),
				  number->bytes, number->is_signed);
}

static __always_inline u64 read_condition_subject(u32 subject, const struct event_number *number,
						  u64 base)
{
	switch (subject) {
	case CONDITION_PID:
		return current_pid_and_tid() >> 32;
	case CONDITION_TID:
		return (u32)current_pid_and_tid();
	case CONDITION_UID:
		return (u32)bpf_get_current_uid_gid();
	case CONDITION_CGROUP:
		return bpf_get_current_cgroup_id();
	default:
		return read_number_in_event(base, number);
	}
}

/*
 * The value that a question asks for, of an event whose fields have all the numbers of the
 * question.
 */
static __always_inline u64 read_value_of_question(const struct question *question, u64 base)
{
	u64 value = event_number_read(base, &question->value);

	if (question->factor.bytes)
		value *= event_number_read(base, &question->factor);
	return nonnegative_value(value);
}

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

/*
 * The outermost call of the function that begins things, for each thread; the key is the kernel's
 * thread id.
 */
struct alive_call {
	u64 sp;	       /* stack pointer at the entry; 0: the call has returned */
	u64 number;    /* value of the thing that begins when the call returns */
	u64 place;     /* address where the function stores the key; 0: the result is the key */
	u64 is_wanted; /* 1: the call meets the conditions */
};

HASH_MAP(alive, 1, struct span_key, struct alive_thing);
MAP_OF(alive_calls, BPF_MAP_TYPE_LRU_HASH, 0, 1, u32, struct alive_call);

/*
 * 1: the begins and ends of things are noted. User space sets the flag while all sources are
 * attached, so no end is missed.
 */
u64 alive_open;

u64 spans_unbegun; /* number of ends of spans and of things whose begin is not known */
u64 spans_unkept;  /* number of begins of spans and of things for which a map had no room */

#define ERROR_ADDRESS ((u64)-4095) /* keys from here on are error codes, -1 is MAP_FAILED */

static __always_inline u64 stack_pointer_of_probe_context(u64 base)
{
	return BPF_CORE_READ((const struct pt_regs___kernel *)base, sp);
}

static __always_inline void alive_thing_set_key(struct span_key *key,
						const struct question *question, u64 by)
{
	key->by = by;
	key->span = question->span ? current_pid_and_tid() >> 32 : 0;
}

/* Draws whether a thing is in the sample (abi/question.h). */
static __always_inline bool is_alive_thing_sampled(const struct question *question, u64 number)
{
	if (config.alive != ALIVE_SAMPLED || !question->every)
		return true;
	return bpf_get_prandom_u32() * question->every >> 32 < number;
}

__noinline int alive_thing_note_call(const struct question *question, u64 base, u64 is_wanted)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct alive_call fresh = {};
	struct alive_call *call;

	if (!config.alive || !question || !alive_open)
		return 0;
	fresh.sp = stack_pointer_of_probe_context(base);
	fresh.is_wanted = is_wanted;
	call = bpf_map_lookup_elem(&alive_calls, &tid);
	if (call && call->sp > fresh.sp)
		return 0;
	fresh.number = read_value_of_question(question, base);
	fresh.place = event_number_read(base, &question->key);
	if (!is_alive_thing_sampled(question, fresh.number))
		fresh.is_wanted = 0;
	if (call)
		*call = fresh;
	else if (bpf_map_update_elem(&alive_calls, &tid, &fresh, BPF_ANY))
		atomic_add_relaxed(&spans_unkept, 1);
	return 0;
}

/*
 * Takes the key of a thing from the call that returns here. The value is taken from the call, too,
 * unless the question reads it at the return. False: the call begins no thing.
 */
static __always_inline bool take_alive_key_from_returning_call(const struct question *question,
							       u64 base, u64 *number, u64 *by)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct alive_call *call = bpf_map_lookup_elem(&alive_calls, &tid);

	if (!call || !call->sp ||
	    stack_pointer_of_probe_context(base) < call->sp + RETURN_ADDRESS_BYTES)
		return false;
	call->sp = 0;
	if (!question->value.bytes)
		*number = call->number;
	if (call->place) /* the result says whether the function has stored a key there */
		*by = (u32)*by ? 0
			       : read_number_from_memory(call->place, sizeof(u64),
							 NUMBER_IN_USER_MEMORY);
	return call->is_wanted;
}

/*
 * The serial number is unique: the CPU is in it, and the clock goes on between two begins on one
 * CPU.
 */
static __always_inline u64 alive_thing_new_serial(void)
{
	u64 serial = bpf_ktime_get_ns() * CONFIG_CPUS_MAX + bpf_get_smp_processor_id();

	return serial & (~0ULL >> 1);
}

/*
 * Records that a thing begins. Returns the thing's serial number, which is the value of the event
 * in the ring; or ANSWER_NONE.
 */
__noinline s64 alive_thing_begin(const struct question *question, u64 base)
{
	struct alive_thing thing = {};
	struct span_key key;
	u64 by, number;

	if (!config.alive || !question || !alive_open)
		return ANSWER_NONE;
	number = read_value_of_question(question, base);
	by = read_condition_subject(question->key_subject, &question->key, base);
	if (question->has_call && !take_alive_key_from_returning_call(question, base, &number, &by))
		return ANSWER_NONE;
	if (!by || by >= ERROR_ADDRESS)
		return ANSWER_NONE;
	if (question->value.bytes && !is_alive_thing_sampled(question, number))
		return ANSWER_NONE;
	alive_thing_set_key(&key, question, by);
	thing.serial = alive_thing_new_serial();
	thing.number = number;
	if (!bpf_map_update_elem(&alive, &key, &thing, BPF_ANY))
		return thing.serial;
	atomic_add_relaxed(&spans_unkept, 1);
	return ANSWER_NONE;
}

__noinline int alive_thing_end(const struct question *question, u64 base)
{
	struct span_key key;
	u64 by;

	if (!config.alive || !question || !alive_open)
		return 0;
	by = read_condition_subject(question->key_subject, &question->key, base);
	alive_thing_set_key(&key, question, by);
	if (by && bpf_map_delete_elem(&alive, &key) && config.alive == ALIVE_ALL)
		atomic_add_relaxed(&spans_unbegun, 1);
	return 0;
}

/*
 * The question of each source, by event kind. User space sets the size; the map has one entry if no
 * source has a question.
 */
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

static __always_inline u32 comm_match_patterns(u64 pattern)
{
	u32 key = pattern;
	const struct comm_globs *globs = bpf_map_lookup_elem(&comm_patterns, &key);
	u64 comm[COMM_BYTES / sizeof(u64)];

	copy_comm_of_typed_task(comm, current_typed_task());
	return globs && comm_globs_match(globs, (const u8 *)comm) ? COMPARED_EQUAL : COMPARED_LESS;
}

struct asked {
	u64 base; /* the address that the numbers of the event are read from */
	u64 kind;
	u64 is_met; /* 1: all conditions of the current alternative are met so far */
	u64 time;   /* duration of the span that ends, ns */
};

static __always_inline u64 event_meets_condition(const struct condition *condition, u64 base,
						 u64 time)
{
	u64 number = time;

	if (condition->subject == CONDITION_COMM)
		return (comm_match_patterns(condition->operand) & condition->accepts) != 0;
	if (condition->subject != CONDITION_TIME)
		number = read_condition_subject(condition->subject, &condition->number, base);
	return (compare_numbers(number, condition->operand, condition->number.is_signed) &
		condition->accepts) != 0;
}

/*
 * A global function: verified once. Returns 1 if the event meets the condition; 0 if not, or if
 * `condition` is NULL.
 */
__noinline int event_meets_nonnull_condition(const struct condition *condition, u64 base, u64 time)
{
	return condition ? event_meets_condition(condition, base, time) : 0;
}

static long evaluate_condition(u32 i, struct asked *asked)
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
		asked->is_met = event_meets_nonnull_condition(condition, asked->base, asked->time);
	return 0;
}

/*
 * The spans that have begun and not ended. User space counts the spans that are open when
 * recording ends.
 */
HASH_MAP(spans, 1, struct span_key, struct span_begins);

static __always_inline void span_key_set(struct span_key *key, const struct question *question,
					 u64 base)
{
	key->span = question->span;
	key->by = read_condition_subject(question->key_subject, &question->key, base);
}

static __always_inline u64 new_span_mark(void)
{
	return SPAN_MARK(bpf_ktime_get_ns(), bpf_get_smp_processor_id());
}

/* Begins a span and returns the span's mark. 0: the span is not timed. */
__noinline u64 span_begin(const struct question *question, u64 base)
{
	struct span_begins fresh = {};
	struct span_begins *begins;
	struct span_key key;
	u64 depth, mark;

	if (!question)
		return 0;
	span_key_set(&key, question, base);
	begins = bpf_map_lookup_elem(&spans, &key);
	if (!begins) {
		fresh.depth = 1;
		mark = new_span_mark();
		fresh.begin[0] = mark;
		if (!bpf_map_update_elem(&spans, &key, &fresh, BPF_ANY))
			return mark;
		atomic_add_relaxed(&spans_unkept, 1);
		return 0;
	}
	mark = new_span_mark();
	if (question->key_subject != CONDITION_TID) {
		begins->begin[0] = mark;
		return mark;
	}
	depth = begins->depth;
	begins->depth = depth + 1;
	core_one_register(depth);
	if (depth < SPAN_DEPTH_MAX) {
		begins->begin[depth & (SPAN_DEPTH_MAX - 1)] = mark;
		return mark;
	}
	atomic_add_relaxed(&spans_unkept, 1);
	return 0;
}

/* Returns the mark of the span that ends. 0: the end has no timed begin. */
__noinline u64 span_end(const struct question *question, u64 base)
{
	u64 depth, begin = 0;
	struct span_begins *begins;
	struct span_key key;

	if (!question)
		return 0;
	span_key_set(&key, question, base);
	begins = bpf_map_lookup_elem(&spans, &key);
	depth = begins ? begins->depth : 0;
	if (!begins || !depth) {
		atomic_add_relaxed(&spans_unbegun, 1);
		return 0;
	}
	begins->depth = --depth;
	core_one_register(depth);
	if (depth < SPAN_DEPTH_MAX)
		begin = begins->begin[depth & (SPAN_DEPTH_MAX - 1)];
	if (!depth)
		bpf_map_delete_elem(&spans, &key);
	return begin;
}

/*
 * 1: the event does not meet the first condition, and this failure alone refuses the event
 * (question->refuses_early). The condition is tested before the filters of the instance, because
 * the test costs less than the lookup of the thread. A call takes 7 ns more than the same code in
 * the program, and leaves the program its stack: Linux 6.1 allows 512 bytes for all calls together.
 */
__noinline int is_event_refused_early(u32 kind, u64 base)
{
	const struct question *question = bpf_map_lookup_elem(&questions, &kind);

	return question && question->refuses_early &&
	       !event_meets_condition(&question->conditions[0], base, 0);
}

/*
 * Returns the value that the question reads from the event, 0 if the source asks for none; or
 * ANSWER_NONE if the event does not meet the conditions.
 */
__noinline s64 evaluate_question(u32 kind, u64 base)
{
	struct asked asked = {.base = base, .kind = kind};
	const struct question *question = bpf_map_lookup_elem(&questions, &kind);
	u64 mark = 0;

	if (!question)
		return 0;
	if (question->span_role == SPAN_BEGIN) {
		mark = span_begin(question, base);
		return config.begin_stacks && question->stacks && mark ? mark : ANSWER_NONE;
	}
	if (question->span_role == SPAN_END) {
		asked.time = bpf_ktime_get_ns();
		mark = span_end(question, base);
		if (!mark)
			return ANSWER_NONE;
		asked.time = SPAN_MARK_TIME(asked.time - mark);
	}
	if (config.alive && question->span_role == ALIVE_END) {
		alive_thing_end(question, base);
		return ANSWER_NONE;
	}
	asked.is_met = 1 + core_unknown_zero(question->count);
	/* one condition is evaluated without the loop, which is cheaper */
	if (question->count == 1)
		asked.is_met = event_meets_condition(&question->conditions[0], base, asked.time);
	else if (question->count)
		core_rare_loop(QUESTION_CONDITIONS_MAX, evaluate_condition, &asked);
	if (config.alive && question->span_role == ALIVE_CALL) {
		alive_thing_note_call(question, base, asked.is_met);
		return ANSWER_NONE;
	}
	if (!asked.is_met) {
		if (config.count_unmet)
			atomic_add_relaxed(&conditions_unmet, 1);
		return ANSWER_NONE;
	}
	if (config.alive && question->span_role == ALIVE_BEGIN)
		return alive_thing_begin(question, base);
	if (config.begin_stacks && question->stacks)
		return mark | (question->stacks == SPAN_STACKS_BEGIN ? SPAN_MARK_END : 0);
	if (question->span_role == SPAN_END)
		return asked.time;
	if (config.counters && question->counter)
		return count_since_last_event_of_thread(question->counter - 1, question->in_switch);
	return read_value_of_question(question, base);
}

/*
 * Returns the second value that the question reads from the event, 0 if the source asks for none.
 */
__noinline u64 read_second_value_of_question(u32 kind, u64 base)
{
	const struct question *question = bpf_map_lookup_elem(&questions, &kind);
	u64 value;

	if (!config.further || !question)
		return 0;
	value = event_number_read(base, &question->further);
	if (question->further_factor.bytes)
		value *= event_number_read(base, &question->further_factor);
	return nonnegative_value(value);
}

/*
 * An address as a number: global functions take no pointer to the context of a program. The atomic
 * exchange ends what the verifier knows of the word on the stack, and costs less than a helper that
 * reads the word.
 */
static __always_inline u64 pointer_as_number(const void *pointer)
{
	u64 number = 0;

	atomic_exchange_acq_rel(&number, (u64)pointer);
	return number;
}

#endif
