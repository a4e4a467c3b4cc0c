/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* By what programs are attached where a kernel may have one of several ways: for the recorder, and
 * for whoever tells. Features are tried, so asking takes time. */
#ifndef LIB_CAPTURE_WAYS_H
#define LIB_CAPTURE_WAYS_H

#include <stdbool.h>

/* One program serves many tracepoints; else each has its own. */
bool way_tracepoint_cookies(void);

/* One link serves many user functions; else each has its own. */
bool way_user_multi(void);

/* Functions of the kernel, so many of them: none, or what may serve. Of a few functions each is
 * looked up in the kernel's types: the others take a probe, as ftrace may not know them. */
struct kernel_ways {
	bool few;
	bool multi; /* one link serves all that are known */
	bool entry; /* fentry, for those that are known */
	bool probe; /* a kprobe each */
};

struct kernel_ways way_kernel(unsigned int functions);

#endif
