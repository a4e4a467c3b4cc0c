/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of threads went, by thread or summed up. For the account of each thread, for each
 * row and for the sum of all rows,
 *
 *   life = sum of spent
 *
 * so `difference`, the left side less the right side, is 0.
 */
#ifndef LIB_REPORT_TIME_TABLE_H
#define LIB_REPORT_TIME_TABLE_H

#include "event_filter.h"
#include "thread_time.h"
#include "wait_ends.h"

enum time_key { TIME_BY_THREAD, TIME_BY_PROCESS, TIME_BY_COMM, TIME_BY_CGROUP };

struct time_row {
	u32 tid, tgid; /* ids of the row's thread or process; with other keys those of any thread of
			  the row */
	const char *comm; /* name when the account ended; of a process that of its first thread, if
			     known */
	const char *cgroup; /* cgroup when the account ended */
	u64 threads;	    /* number of threads (accounts) that this row sums up */
	u64 begin;	    /* begin of one of the row's accounts */
	u64 life;	    /* time from begin to end of the accounts, ns */
	u64 spent[TIME_STATES];
	u64 idle;   /* ns of `interruptible` in which the thread waited for work. Counted by the
		       events of waits, so a wait whose event was lost is not idle time */
	u64 stolen; /* ns of `running` that the kernel's own count leaves out; never negative */
};

struct time_table {
	struct time_row *rows; /* sorted by the time running and runnable, longest first */
	u32 count;
	struct time_row all;
	s64 difference; /* sum of life less sum of spent; ns */
};

/* Adds up the accounts of tasks that pass the filter; times, CPUs and events of the filter do not
 * choose accounts. `ends` tells which waits are idle; NULL: no wait is idle. -ENOMEM. */
int time_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      enum time_key key, struct wait_ends *ends, struct time_table **out);
void time_table_free(struct time_table **table);

u64 time_row_blocked(const struct time_row *row);

#endif
