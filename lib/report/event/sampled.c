/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "report/event/sampled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "question.h"

u64 sampled_every(const char *name)
{
	const char *key = NULL;
	char *end;
	u64 every;

	if (strncmp(name, "alive:", strlen("alive:")) != 0)
		return 0;
	for (const char *next = strstr(name, TRACE_EVERY_KEY); next;
	     next = strstr(next + 1, TRACE_EVERY_KEY))
		key = next + strlen(TRACE_EVERY_KEY);
	if (!key)
		return 0;
	every = strtoull(key, &end, 10);
	return end > key && !strcmp(end, "/") && every <= ALIVE_EVERY_MAX ? every : 0;
}

u64 sampled_error(u64 every, u64 estimates)
{
	return (u64)ceil((double)every * sqrt((double)estimates));
}
