/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events that are counted at their stacks: those that found their ring full, or, where the instance
 * aggregates (`start --aggregate`), all events. A table of sums for each CPU is mapped into the
 * reader's memory. Programs add rows and counts; the reader only notes what it has written to a
 * file. A sum over all files is exact, although programs never stop.
 *
 *   events counted in rows = sum of count; written to files = sum of reported_count
 *
 * A reset without a reader discards what no file has: it raises reported_count, too. When a reset
 * has replaced the stack map, rows of its stacks are freed (core/counted_row.h).
 *
 * A program that interrupts the writer of a new row passes the row by. A key may therefore have
 * several rows, and all of them count.
 *
 * An instance that aggregates has a row for each power of two of the values of a stack, and a range
 * beside each row. Histograms, minima and maxima are therefore exact.
 */
#ifndef STACKMAP_ABI_COUNTED_H
#define STACKMAP_ABI_COUNTED_H

#include "ring.h"
#include "scalar.h"

/* rows in the table of a CPU, unless the instance aggregates; a power of two */
#define COUNTED_ROWS 4096U
#define COUNTED_ROWS_LEAST 64U
#define COUNTED_PROBES 16U

enum counted_state { COUNTED_FREE = 0, COUNTED_NEW = 1, COUNTED_READY = 2 };

/* An event without time and value. */
struct counted_key {
	u64 task;   /* tid | bucket << 32 | STAMP_OF(0, kind, flags) */
	u64 stacks; /* kernel | user << 32: stack ids or reasons, by the flags */
	u64 leaf;
};

#define COUNTED_TASK(tid, stamp) ((u32)(tid) | (stamp) >> STAMP_TIME_BITS << STAMP_TIME_BITS)
#define COUNTED_TID(task) ((u32)(task))
/* The bucket of the event's value: 0 for the value 0, else n for 2^(n - 1) to 2^n - 1. */
#define COUNTED_BUCKET_OF(bucket) ((u64)(bucket) << 32)
#define COUNTED_STACKS(kernel, user) ((u64)(kernel) | (u64)(user) << 32)

struct counted_row {
	u64 state; /* enum counted_state */
	struct counted_key key;
	u64 count;
	u64 value; /* sum of the values of the counted events */
	u64 reported_count;
	u64 reported_value;
};
ABI_SIZE(struct counted_row, 64);

/* The values of the events in a row. When a reader takes the least and the greatest value, it
 * resets both, so that they are then the least and greatest of later events. */
struct counted_range {
	u64 begun; /* number of events that were, or are being, added to the row */
	u64 most;
	u64 least_inverted; /* ~ the least value; 0: no value */
	u64 reserved;
};
ABI_SIZE(struct counted_range, 32);

/*
 * `busy_until` bounds the time that a CPU spends on counting: each counted event moves it by
 * COUNTED_SHARE times the time that the event took, and no event is counted while it is ahead of
 * the clock by more than COUNTED_AHEAD_NS.
 */
#define COUNTED_SHARE 4
#define COUNTED_AHEAD_NS 4000000000ULL
/* the most time that is taken for one event: an event that took longer was interrupted */
#define COUNTED_EVENT_NS_MAX 100000ULL

struct counted_table {
	/*
	 * CLOCK_MONOTONIC, ns: time up to which the CPU has used its share for counting; not used
	 * by an instance that aggregates
	 */
	u64 busy_until;
	/* sums of the reported_count of all rows, freed ones included: */
	u64 reported;  /* sum of the counts that files have reported */
	u64 discarded; /* sum of the counts that resets have discarded */
	u64 reserved[5];
	struct counted_row row[];
};
ABI_OFFSET(struct counted_table, row, 64);

/* The ranges of the rows, in the same order, follow the rows: at this offset in the table. */
#define COUNTED_RANGES_AT(rows)                                                                    \
	(sizeof(struct counted_table) + (u64)(rows) * sizeof(struct counted_row))
#define COUNTED_BYTES(rows, has_ranges)                                                            \
	(COUNTED_RANGES_AT(rows) + ((has_ranges) ? (u64)(rows) * sizeof(struct counted_range) : 0))

#endif
