/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings that are difficult for export formats. */
#ifndef TESTS_UNIT_EXPORT_ODD_RECORDING_H
#define TESTS_UNIT_EXPORT_ODD_RECORDING_H

#include "trace/read/reader.h"

/*
 * Writes a recording of ODD_EVENTS events, of ODD_TASKS tasks, with a stack of two functions. The
 * names of source, file, functions and tasks, the command and the host have every byte but 0.
 */
#define ODD_EVENTS 255
#define ODD_FRAMES 2
int open_recording_with_odd_names(struct trace_reader **out);

/* Writes `count` events of different tasks, and then the same events once more. */
int open_recording_with_many_tasks(u32 count, struct trace_reader **out);

/*
 * Writes three events of a waker, then two of a thread of ODD_PROGRAM, which began in the C
 * library.
 */
#define ODD_PROGRAM "/usr/bin/program"
int open_recording_with_wakers(struct trace_reader **out);

/*
 * Writes three waits of one thread: the second one begins before the first one ends, the third one
 * as the first one ends.
 */
int open_recording_with_overlapping_waits(struct trace_reader **out);

/*
 * Writes one event of each of `threads` threads of a process that has published a service, and then
 * as many attributes without a value as the message has room for.
 */
#define ODD_SERVICE "shop"
int open_recording_with_published_attributes(u32 threads, struct trace_reader **out);

#endif
