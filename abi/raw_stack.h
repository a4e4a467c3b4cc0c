/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A user stack that the kernel could not finish, for user space to finish: registers, a copy of the
 * stack from the stack pointer on, and the executable mappings of the task at the same moment, so
 * that the record needs no order relative to others.
 *
 * The record goes through a BPF ring buffer, without the unused part of `stack`. The reader writes
 * the deferred stack into the file.
 */
#ifndef STACKMAP_ABI_RAW_STACK_H
#define STACKMAP_ABI_RAW_STACK_H

#include "rule.h"
#include "scalar.h"

#define RAW_STACK_BYTES_MAX (128U << 10)
#define RAW_MAPPINGS_MAX 256

struct raw_mapping {
	u64 start;
	u64 end;
	u64 offset; /* file offset of `start`; without a file: the lower bits of `start` */
	u32 number; /* mapping number (abi/mapping.h) */
	u32 reserved;
};
ABI_SIZE(struct raw_mapping, 32);

enum raw_flag {
	RAW_COMPAT = 1 << 0, /* the task runs 32-bit code */
	/*
	 * the task is alive, and a return of the task to user mode would be noticed: the rest of
	 * the stack may be read from the task
	 */
	RAW_ALIVE = 1 << 1,
	/* the task has more executable mappings than `mapping` has room for */
	RAW_SOME_MAPPINGS = 1 << 2,
	RAW_AT_ENTRY = 1 << 3, /* the pc in the registers is the first instruction of a function */
	/* the record is sent only if it has all executable mappings of the task */
	RAW_BETTER = 1 << 4,
};

struct raw_stack {
	u32 tid;
	u32 tgid;
	u32 cookie;
	u32 flags; /* enum raw_flag */
	u64 time;
	u64 value[REGISTER_COUNT]; /* values of the registers, by DWARF number; all are known */
	u64 stack_start;	   /* address of stack[0] */
	u64 missing;		   /* bit i: the copy's page i was not in memory (RAW_STACK_PAGE) */
	u32 stack_bytes;
	u32 mapping_count;
	struct raw_mapping mapping[RAW_MAPPINGS_MAX]; /* sorted by address */
	u8 stack[RAW_STACK_BYTES_MAX];
};
/*
 * The number of the page of an address in the copy of the stack; only a part of page 0 may be
 * copied.
 */
#define RAW_PAGE_BITS 12
#define RAW_STACK_PAGE(raw, address)                                                               \
	(((address) >> RAW_PAGE_BITS) - ((raw)->stack_start >> RAW_PAGE_BITS))
#define RAW_STACK_SIZE(stack_bytes) (__builtin_offsetof(struct raw_stack, stack) + (stack_bytes))
ABI_SIZE(struct raw_stack, 48 + 8 * REGISTER_COUNT + 32 * RAW_MAPPINGS_MAX + RAW_STACK_BYTES_MAX);

/*
 * A request that the recorder makes about a task which is asleep in the kernel and waits for a
 * cookie. The recorder runs the program with this request itself.
 *
 *   PEEK    registers and mappings; the recorder then reads the stack out of the living process
 *   CHECK   says whether the task has stayed in the kernel since
 *   TAKE    the same, and takes the cookie out of PENDING (abi/deferral.h)
 *
 * A CHECK changes no state: the task itself still delivers its stack later.
 */

enum unwind_blocked_operation { UNWIND_BLOCKED_PEEK, UNWIND_BLOCKED_CHECK, UNWIND_BLOCKED_TAKE };

struct unwind_blocked_request {
	u32 tid;
	u32 cookie;
	u32 operation; /* enum unwind_blocked_operation */
	/*
	 * 0; -ENOENT: the cookie is not pending any more; -EAGAIN: the registers have changed;
	 * -ENOSPC: no scratch slot or buffer is free, or another request writes the answer
	 */
	s32 result;
	u64 answer; /* PEEK: `sequence` of the answer */
};
ABI_SIZE(struct unwind_blocked_request, 24);

/*
 * The answer to the last PEEK of an instance: the program copies it to a map, by one call. (A
 * program stores into a request only word by word, at constant offsets, which takes 2000
 * instructions.) A reader whose request has another sequence has lost its answer to another reader.
 */
struct unwind_blocked_answer {
	u64 sequence; /* odd: the answer is being written */
	u32 busy;     /* 1: a program writes the answer */
	u32 reserved;
	u64 raw[RAW_STACK_SIZE(0) / 8]; /* a struct raw_stack without a copy of the stack */
};
ABI_SIZE(struct unwind_blocked_answer, RAW_STACK_SIZE(0) + 16);

#endif
