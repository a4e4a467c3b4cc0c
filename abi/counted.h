/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that found their ring full and are counted at their stacks: a table of sums for each CPU,
 * mapped into the reader's memory. Programs add rows and counts; the reader only notes what it has
 * written to a file. A sum over all files is exact, although programs never stop.
 *
 *   events counted in rows = sum of count; written to files = sum of reported_count
 *
 * A reset without a reader discards what no file has: it raises reported_count, too.
 *
 * A program that interrupts the writer of a new row passes the row by. A key may therefore have
 * several rows, and all of them count.
 */
#ifndef STACKMAP_ABI_COUNTED_H
#define STACKMAP_ABI_COUNTED_H

#include "ring.h"
#include "scalar.h"

#define COUNTED_ROWS 4096U /* rows in the table of a CPU; a power of two */
#define COUNTED_PROBES 16U

enum counted_state { COUNTED_FREE = 0, COUNTED_NEW = 1, COUNTED_READY = 2 };

/* An event without time and value. */
struct counted_key {
	u64 task;   /* tid | STAMP_OF(0, kind, flags) */
	u64 stacks; /* kernel | user << 32: stack ids or reasons, by the flags */
	u64 leaf;
};

#define COUNTED_TASK(tid, stamp) ((u32)(tid) | (stamp) >> STAMP_TIME_BITS << STAMP_TIME_BITS)
#define COUNTED_TID(task) ((u32)(task))
#define COUNTED_STACKS(kernel, user) ((u64)(kernel) | (u64)(user) << 32)

struct counted_row {
	u64 state; /* enum counted_state */
	struct counted_key key;
	u64 count;
	u64 value; /* sum */
	u64 reported_count;
	u64 reported_value;
};
ABI_SIZE(struct counted_row, 64);

/*
 * `busy_until` bounds the time that a CPU spends on counting: each counted event moves it by
 * COUNTED_SHARE times the time that the event took, and no event is counted while it is ahead of
 * the clock by more than COUNTED_AHEAD_NS.
 */
#define COUNTED_SHARE 4
#define COUNTED_AHEAD_NS 4000000000ULL
#define COUNTED_EVENT_NS_MAX 100000ULL /* an event that took longer was interrupted */

struct counted_table {
	u64 busy_until; /* CLOCK_MONOTONIC ns */
	u64 reported;  /* sum of the reported_count of all rows, as far as files have reported it */
	u64 discarded; /* sum of the reported_count of all rows, as far as resets have raised it */
	u64 reserved[5];
	struct counted_row row[COUNTED_ROWS];
};
ABI_OFFSET(struct counted_table, row, 64);

#endif
