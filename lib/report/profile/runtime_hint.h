/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code that a runtime generated or interprets and that has no names, though the runtime would tell
 * them if it was asked to: which it is, and how that is done.
 */
#ifndef LIB_REPORT_RUNTIME_HINT_H
#define LIB_REPORT_RUNTIME_HINT_H

#include "profile.h"
#include "trace/read/reader.h"

struct runtime_hint {
	const char *name;   /* "Java code" */
	const char *remedy; /* what brings names, as a sentence without its end */
};

#define RUNTIME_HINTS_MAX 9

/* Where code has no name in half of the events that are in such code, and in a tenth of all, or
 * more. Returns how many. */
u32 runtime_hints(const struct trace_reader *reader, const struct profile *profile,
		  struct runtime_hint hints[RUNTIME_HINTS_MAX]);

#endif
