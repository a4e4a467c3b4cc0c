/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A histogram as text: a line of numbers, then a line with a bar for each bucket. */
#ifndef LIB_FORMAT_HISTOGRAM_TEXT_H
#define LIB_FORMAT_HISTOGRAM_TEXT_H

#include "report/event/distribution.h"

#define HISTOGRAM_PERCENTILES 4

/* The percentiles of all views of values; the names are column names. */
extern const struct histogram_percentile {
	u32 permille;
	const char *name;
} histogram_percentiles[HISTOGRAM_PERCENTILES];

/* Calls `put` for each line, which has no end of line. The values are sorted and not empty. Stops
 * at the first non-zero return and returns it. */
int histogram_text(const struct distribution *values, enum histogram_scale scale, const char *unit,
		   int (*put)(void *arg, const char *line), void *arg);

#endif
