/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for locks, of a recording made with --locks. Each lock has a row, and each row has the
 * waits for the lock by both ends of the wait: the waiter's stacks and the waker's stacks.
 *
 * A lock of the kernel is known by its address. Its wait is the time from lock:contention_begin to
 * lock:contention_end of one thread, which spins or sleeps meanwhile. If the thread sleeps, its
 * waker has released the lock.
 *
 * A lock of a process is a futex: the process and the address in its memory. Its wait is the sleep
 * in futex(2). The address is that of the last sys_enter_futex of the thread. A sleep that began
 * before the recording has no such event, and address 0.
 */
#ifndef LIB_REPORT_LOCK_TABLE_H
#define LIB_REPORT_LOCK_TABLE_H

#include "report/event/event_filter.h"
#include "wait_ends.h"

struct lock_row {
	u64 address;	  /* address of the lock; 0: unknown */
	u32 tgid;	  /* process that a futex belongs to; 0: a lock of the kernel */
	const char *comm; /* name of the process of a futex, or of a thread of the process */
	const char *type; /* "mutex", "spinlock"... */
	u64 count;
	u64 total, most;		/* sum of the waits, and longest wait, ns */
	const struct wait_pair **pairs; /* pairs of waiter and waker, most time first */
	u32 pair_count;
};

struct lock_table {
	const struct lock_row **rows; /* rows of the locks, most time first */
	u32 count;
	u64 waits, total;
};

/* Waits of threads that pass the filter. -ENODATA: the recording has neither kind of lock; -ENOMEM.
 */
int lock_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      struct frame_names *names, struct event_paths *paths,
		      struct lock_table **out);
void lock_table_free(struct lock_table **table);

#endif
