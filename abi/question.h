/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The question of an event source: the number that its events have as their value, and the
 * conditions under which an event is recorded. User space compiles the question from the words
 * /value=.../ and /if=.../ (lib/capture/source/question.h); the programs read it by the event kind.
 *
 * A number of an event lies at an offset from the base of the event: of pt_regs for functions and
 * system calls, of the record for tracepoints, of the array of arguments for fentry and fexit. If a
 * pointer lies at this offset, the number may be in the memory that the pointer leads to, perhaps
 * by further pointers (enum number_place).
 */
#ifndef STACKMAP_ABI_QUESTION_H
#define STACKMAP_ABI_QUESTION_H

#include "scalar.h"

#define QUESTION_CONDITIONS_MAX 8

enum number_place {
	NUMBER_IN_EVENT = 0,
	NUMBER_IN_KERNEL_MEMORY,
	/* in memory of the current task; the number is not read if its page is not present */
	NUMBER_IN_USER_MEMORY,
	NUMBER_CONSTANT, /* the number is displacement[0] */
};

#define NUMBER_STEPS_MAX 4

struct event_number {
	u16 offset;
	u8 bytes; /* size of the number, 1 .. 8; 0: the source asks for no number */
	u8 is_signed;
	u8 place; /* enum number_place */
	/*
	 * number of pointers that are followed, 1 .. NUMBER_STEPS_MAX; only for numbers in memory
	 */
	u8 steps;
	u16 unused;
	/*
	 * an offset for each pointer that is followed: displacement[i] is added to the i-th pointer
	 * before memory is read there
	 */
	s32 displacement[NUMBER_STEPS_MAX];
};

enum condition_subject {
	CONDITION_NUMBER = 0, /* a number of the event */
	CONDITION_COMM,	      /* the name of the current task */
	CONDITION_PID,
	CONDITION_TID,
	CONDITION_UID,
	CONDITION_TIME,	  /* the duration of the span that ends, ns */
	CONDITION_CGROUP, /* id of the current task's cgroup in the cgroup2 hierarchy */
};

/* The outcome of a comparison, as a bit: a condition accepts a set of outcomes. */
enum outcome {
	COMPARED_LESS = 1,
	COMPARED_EQUAL = 2,
	COMPARED_GREATER = 4,
};

struct condition {
	/* number with which the subject is compared; COMM: an index of `comm_patterns` */
	u64 operand;
	struct event_number number;
	u8 subject; /* enum condition_subject */
	u8 accepts; /* set of enum outcome; COMM: EQUAL = the pattern matches, else LESS */
	u8 begins_alternative; /* 1: "||" stands before the condition, else "&&" */
	u8 unused;
};

/*
 * A span lasts from an event of its first source to the next event of its second source with the
 * same key. The second event is recorded, with the time as its value.
 */
enum span_role {
	SPAN_NONE = 0,
	SPAN_BEGIN,
	SPAN_END,
	/*
	 * the call of a function at whose return a thing begins that is alive (struct alive_thing)
	 */
	ALIVE_CALL,
	ALIVE_BEGIN,
	ALIVE_END,
};

/*
 * Most spans of one key that are timed at once, if the key is a thread: spans of a thread nest.
 * Spans of all other keys do not nest: the newest begin counts.
 */
#define SPAN_DEPTH_MAX 8

struct span_key {
	u64 by;
	u64 span;
};

/*
 * The mark of a span's begin: the time and the CPU. Marks are unique, because the clock advances
 * between two begins on one CPU. With the stacks of the begin, the begin is an event in the ring,
 * whose value is the mark. The end event's value is the same mark; the reader joins both events. An
 * end without stacks of its own has SPAN_MARK_END in the value.
 */
enum span_side { SPAN_STACKS_END = 0, SPAN_STACKS_BEGIN, SPAN_STACKS_BOTH };

#define SPAN_MARK_TIME_BITS 53
#define SPAN_MARK_TIME(mark) ((u64)(mark) & (~0ULL >> (64 - SPAN_MARK_TIME_BITS)))
#define SPAN_MARK(time, cpu) (SPAN_MARK_TIME(time) | (u64)(cpu) << SPAN_MARK_TIME_BITS)
#define SPAN_MARK_END (1ULL << 63)

struct span_begins {
	u64 depth; /* number of spans that have begun, spans that are too deep included */
	u64 begin[SPAN_DEPTH_MAX]; /* SPAN_MARK() by CLOCK_MONOTONIC; 0: not timed */
};

/*
 * A thing that is alive begins at an event. The event is recorded if no event with the same key has
 * ended the thing when recording ends. In the ring the event's value is the serial number.
 */
struct alive_thing {
	u64 serial; /* serial number of the thing: the value of its event in the ring */
	u64 number; /* the value that the event of the thing gets in the file */
};

#define ALIVE_MAX (1U << 20) /* most things that are alive at once */
/* most threads that are in a call at whose return a thing begins (ALIVE_CALL) */
#define ALIVE_CALLS_MAX (1U << 14)

#define SPANS_MAX (1U << 16) /* most keys of spans that have begun and not ended */

#define ALIVE_EVERY_MAX 0xffffffffU

/*
 * Sampling: a thing is taken with the probability value / every, at most 1, so one thing is taken
 * for `every` units of value on average. The value of a taken thing in the file is `every`, or the
 * thing's own value if that is larger. The expected value is the thing's own value.
 */
#define ALIVE_ESTIMATE(value, every) ((value) > (every) ? (value) : (every))

/* Counters of perf that are values of events (bpf/event/thread_count.h); a power of two. */
#define COUNTERS_MAX 4
#define COUNTER_INDEX(counter, cpu, cpus) ((counter) * (cpus) + (cpu))

struct question {
	struct event_number value;
	struct event_number factor;  /* number by which the value is multiplied; bytes 0: none */
	struct event_number further; /* the second value; bytes 0: none */
	struct event_number further_factor;
	u32 count; /* number of conditions */
	/*
	 * number of the span, from 1; 0: none. ALIVE_*: 1: keys of different processes are
	 * different
	 */
	u32 span;
	u8 span_role;	/* enum span_role */
	u8 key_subject; /* enum condition_subject; not COMM and not TIME */
	u8 has_call;	/* ALIVE_BEGIN: 1: an ALIVE_CALL has read the value at the call */
	u8 stacks;	/* SPAN_BEGIN, SPAN_END: enum span_side */
	u8 counter; /* number of the counter (COUNTER_INDEX()) that gives the value, from 1; 0: none
		     */
	/* 1: the value comes from a perf counter, and the events are those of sched_switch */
	u8 in_switch;
	/* 1: the first condition alone may refuse an event, before the thread is looked up */
	u8 refuses_early;
	u8 unused;
	struct event_number key;
	u64 every; /* ALIVE_*: units of value for each taken thing; at most ALIVE_EVERY_MAX; 0: all
		    */
	struct condition conditions[QUESTION_CONDITIONS_MAX];
};

#endif
