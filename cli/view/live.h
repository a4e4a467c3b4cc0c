/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Living instances, for the commands that read recordings. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "trace/read/reader.h"

/* What the instance holds now. Gives up privileges; `later_file` can still be made, unless it is
 * NULL. NULL and a message on failure. */
struct trace_reader *live_open(const char *name, const char *later_file);

/* What is to be done with one part of an instance's events; what comes next follows on it. Not 0
 * ends it, and below that is an error. */
struct live_viewer {
	int (*show)(void *arg, struct trace_reader *reader, struct stackmap_error *error);
	void *arg;
};

/* All events of a drain instance from now on, those included that it still holds, as they come,
 * until a signal or its end. The exit status; what went wrong was said. */
int live_follow(const char *name, const struct live_viewer *viewer);

#endif
