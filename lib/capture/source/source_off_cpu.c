/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time that tasks are blocked, under the name that perf gives it, and who ends it. */
#include "source_ops.h"

static const struct source events[] = {
	{.type = SOURCE_OFF_CPU, .name = "offcpu-time", .unit = "ns"},
	{.type = SOURCE_WAKER, .name = "offcpu-waker", .unit = "ns"},
};

#define EVENT_COUNT (sizeof(events) / sizeof(events[0]))

static int off_cpu_find(struct source_query *query, source_visit visit, void *arg,
			struct stackmap_error *error)
{
	int err = 0;

	(void)error;
	for (size_t i = 0; i < EVENT_COUNT && !err; i++)
		if (name_match_try(&query->match, events[i].name))
			err = visit(arg, &events[i]);
	return err;
}

const struct source_ops source_off_cpu_ops = {
	.group = "off-CPU",
	.find = off_cpu_find,
};
