/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The methods by which programs are attached, where kernels differ. Features are tried, so calls
 * take time. */
#ifndef LIB_CAPTURE_WAYS_H
#define LIB_CAPTURE_WAYS_H

#include <stdbool.h>

/* True if one program serves many tracepoints; else each has its own. */
bool way_tracepoint_cookies(void);

/* True if one link serves many user functions; else each has its own. */
bool way_user_multi(void);

/* The methods for this number of kernel functions. If they are few, each is looked up in the
 * kernel's types; functions without a type take a probe, as ftrace may not know them. */
struct kernel_ways {
	bool few;
	bool multi; /* one link serves all functions with a type */
	bool entry; /* fentry, for functions with a type */
	bool probe; /* a kprobe for each function */
};

struct kernel_ways way_kernel(unsigned int functions);

#endif
