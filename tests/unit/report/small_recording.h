/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of a few events in which every kind of frame and every way to miss a stack occurs. */
#ifndef TESTS_UNIT_REPORT_SMALL_RECORDING_H
#define TESTS_UNIT_REPORT_SMALL_RECORDING_H

#include "trace/event.h"

#define SMALL_EVENTS 13

/* 0 or -errno. */
int small_recording_write(const char *path);

/* Writes twins: each event `times` times, or once in a summary with `times` repeats. */
int small_recording_write_often(const char *path, u32 times, bool is_summary);

/* The switches have two values: delay, in ns, and count, in pages. */
int small_recording_write_values(const char *path);

#endif
