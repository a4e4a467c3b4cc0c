/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A source needs two descriptors, on every CPU if it is a perf event, which soon exceeds the usual
 * soft limit of 1024. The limit protects users of select(), which this program does not use.
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
