/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the account of each thread's time (abi/thread_time.h): how long the thread ran, waited or
 * was blocked. The accounts of ended threads come through a BPF ring buffer; the accounts of all
 * other threads are read from a BPF map when recording has ended. */
#ifndef LIB_CAPTURE_THREAD_TIMES_H
#define LIB_CAPTURE_THREAD_TIMES_H

#include "capture/drain/recording.h"

/* Sets recording->times, the reader of the ring buffer that has the accounts of ended threads.
 * -ENOMEM or -errno. The caller calls thread_times_free() also after a failure. */
int thread_times_create(struct recording *recording);
void thread_times_free(struct recording *recording);

/* Writes events into the ring of CPU 0 for waits that go on at the end of the recording and that no
 * BPF iterator has recorded. Two causes: a thread that exits loses its id before it leaves its CPU
 * for the last time, and some kernels refuse iterators. The programs must have been stopped. */
void thread_times_record_unseen_waits(struct loaded *loaded);

/* Writes the accounts and the names of threads that have ended since the last call. */
int thread_times_write_ended(struct recording *recording);

/* Writes the accounts and the names of all other threads. The programs must have been stopped. */
int thread_times_write_open(struct recording *recording);

#endif
