/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Running instances, for the commands that read recordings. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "trace/read/reader.h"

/* Takes a snapshot of the instance. Drops privileges, except those for making `later_file`, which
 * may be NULL. NULL and a message on failure. */
struct trace_reader *live_open(const char *name, const char *later_file);

/* Handles one window of an instance's events. A result other than 0 ends the reading; a negative
 * one is an error. */
struct live_viewer {
	int (*show)(void *arg, struct trace_reader *reader, struct stackmap_error *error);
	void *arg;
};

/* Passes all events of a drain instance as they come, those already held included, until a signal
 * or the end of the instance. Returns the exit status; errors were printed. */
int live_follow(const char *name, const struct live_viewer *viewer);

#endif
