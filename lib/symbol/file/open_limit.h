/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many files may be kept open for later, so that enough descriptors are left for the rest. */
#ifndef LIB_SYMBOL_OPEN_LIMIT_H
#define LIB_SYMBOL_OPEN_LIMIT_H

#include <sys/resource.h>

#include "scalar.h"

/* `most`, or one of `part` descriptors that this process may have; at least one. */
static inline u32 open_limit(u32 most, u32 part)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur / part >= most)
		return most;
	return limit.rlim_cur / part ?: 1;
}

#endif
