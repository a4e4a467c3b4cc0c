/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Perf counters whose counts are values of other sources' events (/value=+EVENT/). */
#ifndef LIB_CAPTURE_SOURCE_COUNTER_H
#define LIB_CAPTURE_SOURCE_COUNTER_H

#include "source.h"

/*
 * Finds the counter of a perf event, as "page-faults", "cycles:u" or "cpu/event=0xc2,umask=1/".
 * *unit is a constant string. Errors begin with `subject` and the event. -EINVAL: a period, a glob,
 * or bad modes; -ENOENT: no such event, or not on this machine; others as source_list_add().
 */
int source_counter_find(const char *text, const char *subject, struct source_counter *out,
			const char **unit, struct stackmap_error *error);

#endif
