/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of events as text for people: a single value, and a histogram. Tables for programs (CSV,
 * JSON) have plain numbers instead. */
#ifndef LIB_FORMAT_VALUE_TEXT_H
#define LIB_FORMAT_VALUE_TEXT_H

#include "report/event/distribution.h"
#include "scalar.h"

#define VALUE_TEXT_ROOM 64

/*
 * Writes a value with three digits if it is in ns ("79.7 s") or in bytes ("1.50 MiB"). A value of
 * any other unit is written in full, followed by the unit, which may be "".
 */
void value_text(u64 value, const char *unit, char text[VALUE_TEXT_ROOM]);

#define HISTOGRAM_PERCENTILES 4

/* The note below a histogram of events that the kernel has aggregated. */
#define HISTOGRAM_OF_AGGREGATES                                                                    \
	"aggregated in the kernel: exact by powers of two; percentiles and linear histograms are " \
	"estimates"

/* The percentiles that all views of values show, with their column names. */
extern const struct histogram_percentile {
	u32 permille;
	const char *name;
} histogram_percentiles[HISTOGRAM_PERCENTILES];

/* A histogram is a line of numbers, then a line with a bar for each bucket. Calls `put` for each
 * line, which has no end of line. The distribution must be sorted and not empty. Stops at the first
 * non-zero return and returns it. */
int histogram_text(const struct distribution *values, enum histogram_scale scale, const char *unit,
		   int (*put)(void *arg, const char *line), void *arg);

#endif
