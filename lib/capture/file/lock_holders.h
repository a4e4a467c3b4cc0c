/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that hold the lock for which another thread still waits when recording ends. No event of
 * the recording wakes such a waiter, so these events (offcpu-holder) show the cause of the wait.
 * Two threads that wait for each other are a deadlock.
 *
 * The kernel does not know the holder of a futex. The C libraries note the thread id in the lock.
 *
 *   - PI mutexes (FUTEX_LOCK_PI): the futex word is the id (futex(2)).
 *   - Other mutexes of glibc: while the word is 2 (taken, with waiters), __owner of struct
 *     __pthread_mutex_s has the id, 8 bytes behind the word.
 *   - Mutexes of musl except normal ones: the futex word is the id with the bit for waiters.
 *
 * Other locks, semaphores and condition variables have no such note. An id counts only if it
 * belongs to another thread of the same process.
 */
#ifndef LIB_CAPTURE_LOCK_HOLDERS_H
#define LIB_CAPTURE_LOCK_HOLDERS_H

#include "capture/load/loaded.h"

/* A wait that has not ended. */
struct lock_holder {
	u64 since; /* ns; the begin of the wait */
	u32 tid;   /* the holder */
};

struct lock_holders {
	struct lock_holder *items;
	u32 count, room;
};

/* Finds the holders while the programs still run. Without memory the list is shorter. */
void lock_holders_find(struct loaded *loaded, struct lock_holders *list);

/* Writes the events into the ring of CPU 0, and empties the list. The programs must have been
 * stopped.
 */
void lock_holders_record(struct loaded *loaded, struct lock_holders *list);

/* The thread that holds the lock at `words`, for which a thread waits by the futex operation
 * `operation`; 0: not known. */
u32 lock_holder_of(const u32 words[3], u32 operation);

#endif
