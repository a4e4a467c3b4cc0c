/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds threads that hold a lock for which another thread still waits when recording ends. No event
 * of the recording wakes such a waiter, so an event of the holder (offcpu-holder) shows the cause
 * of the wait. Two threads that wait for each other's locks are a deadlock.
 *
 * The kernel does not know the holder of a futex. The C libraries store the holder's thread id in
 * the lock:
 *
 *   - PI mutexes (FUTEX_LOCK_PI): the futex word is the id (futex(2)).
 *   - Other mutexes of glibc: while the word is 2 (taken, with waiters), __owner of struct
 *     __pthread_mutex_s has the id, 8 bytes after the futex word.
 *   - Mutexes of musl except normal ones: the futex word is the id with the bit for waiters.
 *
 * Other locks, semaphores and condition variables do not store the id. An id is used only if it
 * belongs to another thread of the same process.
 */
#ifndef LIB_CAPTURE_LOCK_HOLDERS_H
#define LIB_CAPTURE_LOCK_HOLDERS_H

#include "capture/load/loaded.h"

/* A thread that holds a lock, and the wait for this lock that has not ended. */
struct lock_holder {
	u64 since; /* begin of the wait, ns */
	u32 tid;   /* thread id of the holder */
};

struct lock_holders {
	struct lock_holder *items;
	u32 count, room;
};

/* Finds the holders while the BPF programs still run. If memory is short, the list has fewer
 * holders. */
void lock_holders_find(struct loaded *loaded, struct lock_holders *list);

/* Writes an event for each holder into the ring of CPU 0, and empties the list. The programs must
 * have been stopped. */
void lock_holders_record(struct loaded *loaded, struct lock_holders *list);

/* Returns the id of the thread that holds a lock for which another thread waits by futex(2) with
 * `operation`. `words`: the memory from the futex word on. 0: not known. */
u32 futex_lock_holder(const u32 words[3], u32 operation);

#endif
