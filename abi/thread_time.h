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
	u64 begin; /* CLOCK_MONOTONIC, ns: time when the account begins */
	u64 end;
	u64 spent[TIME_STATES]; /* ns, by enum time_state */
	/*
	 * ns, signed: the part of `running` that the kernel does not count as the thread's:
	 * interrupts, the hypervisor
	 */
	u64 stolen;
	u32 tid;
	u32 tgid;
};
ABI_SIZE(struct thread_account, 72);

/*
 * The times of a recorded thread: its account up to the last change of state, and the state that
 * the thread is in since then.
 */
struct thread_time {
	struct thread_account account; /* account of the thread up to the time from.since */
	/* the time since when the thread is in its current state, and the thread's user stack */
	struct blocked from;
	/* begin of the blocked wait that has ended while the thread is still runnable; 0: none */
	u64 blocked_since;
	u32 blocked_state;
	u32 state;
	/*
	 * CLOCK_MONOTONIC, ns: time when the running thread began another program (execve); 0: it
	 * has not
	 */
	u64 exec;
	u64 waits; /* number of times that the thread had left a CPU to wait, at its last switch */
	/* 1: the thread's current waits were recorded as events, although these waits have not
	 * ended */
	u64 is_recorded;
};

/* The sum of the accounts of ended threads for which the buffer had no room. */
struct time_rest {
	u64 threads;
	u64 life;
	u64 spent[TIME_STATES];
	u64 unseen;  /* number of switches at which the kernel called no program */
	u64 untimed; /* number of threads without an account: the kernel had no memory */
};

#endif
