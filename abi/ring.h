/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ring: one per CPU, a header and fixed-size slots, mapped into the reader's memory. Flight
 * recorder and drain use the same bytes.
 *
 * Positions count slots and start at the number of slots (so position - slots is never negative);
 * position p lies in slot p % slots. A slot's commit word holds the low 30 bits of its position,
 * and two marks:
 *
 *   commit = position << 2 | CONTINUED (this slot continues an inline stack) | BUSY (being written)
 *
 * A zero word is a slot never written. A reader takes a slot only when its commit word names the
 * expected position and is not BUSY.
 *
 * An event whose stack the map refused is followed, at later positions, by a run of slots with the
 * full stack: the event's stack field then holds the low 32 bits of the run's first position. Every
 * slot of a run is marked CONTINUED and holds, after the commit word, (slot size - 4) / 4 u32 of
 * payload; the payload of the whole run is one struct inline_stack.
 */
#ifndef STACKMAP_ABI_RING_H
#define STACKMAP_ABI_RING_H

#include "scalar.h"
#include "stack.h"

#define COMMIT_BUSY 1U
#define COMMIT_CONTINUED 2U
#define COMMIT_OF(position) ((u32)(position) << 2)

/*
 * The programs write the first line of 128 bytes. User space writes the second line: the reader, or
 * a reset while no reader is open. The counts cover the ring's whole life:
 *
 *   events produced = consumed + reset + events in the ring + losses that the programs counted
 *
 * (events of a flight ring are not consumed). `reported` holds the losses, by enum ledger_lost,
 * that are already in the ledger of a file: the files of successive readers add up to the whole.
 */
#define RING_REPORTED_MAX 13

struct ring_header {
	u64 head; /* the next position that a program takes */
	u64 reserved0[15];
	u64 tail; /* drain: positions before this one are consumed */
	u64 consumed;
	u64 reset; /* events dropped by resets */
	u64 reported[RING_REPORTED_MAX];
};
ABI_SIZE(struct ring_header, 256);
ABI_OFFSET(struct ring_header, tail, 128);

#define RING_BYTES(slots, slot_size) (sizeof(struct ring_header) + (u64)(slots) * (slot_size))
#define RING_SLOTS_MIN 64U

/* The thread id of an event in an interrupt. The kernel's ids are below 1 << 22. */
#define TID_INTERRUPT 0xffffffffU
#define TID_INTERRUPT_NAME "interrupt"

/*
 * The thread id as texts show it whose readers expect a number after each name: 0 for an event in
 * an interrupt.
 */
#define TID_SHOWN(tid) ((tid) == TID_INTERRUPT ? 0 : (tid))

/*
 * A slot of an event: 24 bytes, and extra words. The leaf, the value and the second value come
 * first, where the instance has them; then the CONTEXT_WORDS words of the context.
 */
#define EVENT_NUMBERS_MAX 3 /* most numbers of an event: leaf, value and second value */
#define EVENT_EXTRA_MAX 7
#define EVENT_SLOT_SIZE(extras) (24U + 8U * (extras))

struct event_slot {
	u32 commit;
	u32 tid;
	u64 stamp;  /* time | kind | flags, see below */
	u32 kernel; /* stack id, run position, or enum stack_reason, by the flags */
	u32 user;   /* stack id, run position, enum stack_reason, or cookie, by the flags */
	u64 extra[];
};
ABI_SIZE(struct event_slot, 24);

/* stamp: u48 time (CLOCK_MONOTONIC ns, modulo 2^48 = 78 h) | u10 kind << 48 | u6 flags << 58 */
#define STAMP_TIME_BITS 48
#define STAMP_TIME(stamp) ((stamp) & ((1ULL << STAMP_TIME_BITS) - 1))
#define STAMP_KIND(stamp) ((u32)((stamp) >> 48) & 0x3ff)
#define STAMP_FLAGS(stamp) ((u32)((stamp) >> 58))
#define STAMP_OF(time, kind, flags)                                                                \
	(((time) & ((1ULL << STAMP_TIME_BITS) - 1)) | (u64)(kind) << 48 | (u64)(flags) << 58)

enum stack_state {		     /* two bits each in the flags: kernel << 0, user << 2 */
		   STATE_NONE = 0,   /* the field is an enum stack_reason */
		   STATE_ID = 1,     /* the field is a stack id */
		   STATE_INLINE = 2, /* the field is the first position of a run */
		   STATE_COOKIE = 3, /* only for the user stack: the field is a cookie, and a later
					KIND_DEFERRED_STACK slot with this cookie has the stack */
};
#define EVENT_FLAGS(kernel_state, user_state) ((u32)(kernel_state) | (u32)(user_state) << 2)
#define EVENT_KERNEL_STATE(flags) ((flags)&3)
#define EVENT_USER_STATE(flags) (((flags) >> 2) & 3)

/* Kinds below KIND_SOURCES are the instance's event sources, in the order in which they were named.
 */
#define KIND_SOURCES 1000
enum event_kind {
	/*
	 * A deferred stack: `user` of the slot is the stack field, `kernel` the cookie. With
	 * STATE_COOKIE for `user` the slot has no stack, but the trace and span of the cookie.
	 */
	KIND_DEFERRED_STACK = 1022,
};

/*
 * The payload of a run of slots: the frames of one stack. A frame of a narrow stack takes one u32;
 * a frame of a wide stack takes two, low half first.
 */
struct inline_stack {
	u16 depth;
	u16 flags; /* enum stack_flag */
	u32 unit[];
};

/*
 * A slot of the task ring: the name and cgroup of a thread, and the time from which both hold. All
 * slots of a task ring have the same size.
 */
struct task_slot {
	u32 commit;
	u32 tid;
	u64 stamp;  /* time and kind as above; the kind is an enum task_change */
	u64 cgroup; /* id in the cgroup2 hierarchy; 0: not known */
	u32 tgid;
	u32 reserved;
	u8 comm[16];
};
ABI_SIZE(struct task_slot, 48);

enum task_change { TASK_FORK = 0, TASK_RENAME = 1, TASK_EXIT = 2, TASK_MOVE = 3 };

#endif
