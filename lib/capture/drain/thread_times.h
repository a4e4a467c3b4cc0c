/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Accounts of threads' time (abi/thread_time.h), from the programs to the file: those of threads
 * that end come through a ring buffer, the rest is taken from their map when recording has ended.
 */
#ifndef LIB_CAPTURE_THREAD_TIMES_H
#define LIB_CAPTURE_THREAD_TIMES_H

#include "capture/drain/recording.h"

/* -ENOMEM, -errno. On failure thread_times_free() is still to be called. */
int thread_times_create(struct recording *recording);
void thread_times_free(struct recording *recording);

/* Waits that go on when recording has ended and that no iterator has seen: a thread that has exited
 * loses its id before it leaves its CPU for the last time, and some kernels refuse iterators. They
 * become events of CPU 0 in its ring. The programs do not run any more. */
void thread_times_record_unseen(struct loaded *loaded);

/* The accounts of threads that have ended, and the names of these threads, to the file. */
int thread_times_take(struct recording *recording);

/* The same of the other threads, once the programs do not run any more. */
int thread_times_finish(struct recording *recording);

#endif
