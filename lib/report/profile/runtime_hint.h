/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds generated or interpreted code that has no names although its runtime can export names, and
 * the option of the runtime that does so.
 */
#ifndef LIB_REPORT_RUNTIME_HINT_H
#define LIB_REPORT_RUNTIME_HINT_H

#include "profile.h"
#include "trace/read/reader.h"

struct runtime_hint {
	const char *name;   /* name of the code, such as "Java code" */
	const char *remedy; /* the way to get names, as a sentence without a full stop */
};

#define RUNTIME_HINTS_MAX 9

/* Gives a hint for each runtime whose code has no name in at least half of the events that have
 * code of the runtime, and in at least a tenth of all events. Returns the number of hints. */
u32 runtime_hints(const struct trace_reader *reader, const struct profile *profile,
		  struct runtime_hint hints[RUNTIME_HINTS_MAX]);

#endif
