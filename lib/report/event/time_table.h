/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the time of threads went, by thread or summed up:
 *
 *   life = sum of spent
 *
 * of each account, each row and the whole. `difference` is what that leaves, and is 0.
 */
#ifndef LIB_REPORT_TIME_TABLE_H
#define LIB_REPORT_TIME_TABLE_H

#include "event_filter.h"
#include "thread_time.h"
#include "wait_ends.h"

enum time_key { TIME_BY_THREAD, TIME_BY_PROCESS, TIME_BY_COMM, TIME_BY_CGROUP };

struct time_row {
	u32 tid, tgid;	    /* of a thread, a process; else of one of its threads */
	const char *comm;   /* at the end; of a process its first thread's, if that is known */
	const char *cgroup; /* at the end */
	u64 threads;	    /* number of accounts that this row sums up */
	u64 begin;	    /* of one of its accounts */
	u64 life;	    /* ns */
	u64 spent[TIME_STATES];
	u64 idle;   /* ns of `interruptible` in which the thread waited for work; by the events of
		       the waits, so an event that was lost is no idle time */
	u64 stolen; /* ns of `running` that the kernel's own count leaves out; never negative */
};

struct time_table {
	struct time_row *rows; /* those that ran or wanted to run for longest first */
	u32 count;
	struct time_row all;
	s64 difference; /* sum of life less sum of spent; ns */
};

/* Adds up the accounts of tasks that pass the filter; times, CPUs and events of the filter do not
 * choose accounts. `ends` tells idle waits from others; NULL: no wait is idle. -ENOMEM. */
int time_table_create(struct trace_reader *reader, const struct event_filter *filter,
		      enum time_key key, struct wait_ends *ends, struct time_table **out);
void time_table_free(struct time_table **table);

u64 time_row_blocked(const struct time_row *row);

#endif
