/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of a thread's time, which `record --time` keeps:
 *
 *   end - begin = sum of spent
 *
 * The states are the kernel's own. A thread is runnable from when the kernel puts the thread into a
 * run queue (woken, new or preempted) until the thread runs, as in /proc/PID/task/TID/schedstat.
 */
#ifndef STACKMAP_ABI_THREAD_TIME_H
#define STACKMAP_ABI_THREAD_TIME_H

#include "deferral.h"
#include "scalar.h"

/* X(ID, name, meaning) */
#define TIME_STATE_LIST(X)                                                                         \
	X(RUNNING, "running", "on a CPU")                                                          \
	X(RUNNABLE, "runnable", "in a run queue: woken, new or preempted, but not running")        \
	X(INTERRUPTIBLE, "interruptible", "asleep until an event or a signal comes")               \
	X(UNINTERRUPTIBLE, "uninterruptible", "asleep until an event comes, mostly of a disk")     \
	X(STOPPED, "stopped", "stopped by a signal, a debugger or the freezer")

#define X(id, name, meaning) TIME_##id,
enum time_state { TIME_STATE_LIST(X) TIME_STATES };
#undef X

struct thread_account {
	u64 begin; /* ns, CLOCK_MONOTONIC */
	u64 end;
	u64 spent[TIME_STATES]; /* ns, by enum time_state */
	u64 stolen; /* ns, signed: of `running`, what the kernel's own count leaves out: interrupts,
		       the hypervisor */
	u32 tid;
	u32 tgid;
};
ABI_SIZE(struct thread_account, 72);

/* A thread that is recorded. */
struct thread_time {
	struct thread_account account; /* up to from.since */
	struct blocked from; /* since when the thread is in its state, and its user stack */
	u64 blocked_since; /* of a wait that has ended, though the thread is still runnable; 0: none
			    */
	u32 blocked_state;
	u32 state;
	u64 exec;	 /* when the thread became another program since it runs; 0: not */
	u64 waits;	 /* how often the thread had left a CPU to wait by the last switch */
	u64 is_recorded; /* its waits have events, though they have not ended */
};

/* The sum of the accounts of ended threads that found no room. */
struct time_rest {
	u64 threads;
	u64 life;
	u64 spent[TIME_STATES];
	u64 unseen;  /* switches that programs were not called for */
	u64 untimed; /* threads without an account: the kernel had no memory */
};

#endif
