/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the accounts of threads' time (abi/thread_time.h). Accounts of ended threads come through
 * a ring buffer, all others are read from the map when recording has ended. */
#ifndef LIB_CAPTURE_THREAD_TIMES_H
#define LIB_CAPTURE_THREAD_TIMES_H

#include "capture/drain/recording.h"

/* -ENOMEM or -errno. The caller calls thread_times_free() also after a failure. */
int thread_times_create(struct recording *recording);
void thread_times_free(struct recording *recording);

/* Makes events, in the ring of CPU 0, for waits that go on at the end and that no iterator has
 * seen: a thread that exits loses its id before it leaves its CPU for the last time, and some
 * kernels refuse iterators. The programs must have been stopped. */
void thread_times_record_unseen(struct loaded *loaded);

/* Writes the accounts and the names of threads that have ended. */
int thread_times_take(struct recording *recording);

/* Writes those of all other threads. The programs must have been stopped. */
int thread_times_finish(struct recording *recording);

#endif
