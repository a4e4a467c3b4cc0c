/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A source takes two descriptors, on every CPU if it is a perf event: soon more than the usual soft
 * limit of 1024, which is that low for the sake of select(). Nothing here uses it.
 */
#include "file_limit.h"

#include <sys/resource.h>

void file_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
