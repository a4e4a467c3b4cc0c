/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the numbers of two recordings are divided by, so that runs of different length compare: the
 * seconds that each lasted, or how often an event of choice occurred in it. */
#ifndef CLI_DIFF_UNIT_H
#define CLI_DIFF_UNIT_H

#include "recording.h"

#define UNIT_SECOND "second"

/* `per`: UNIT_SECOND, or the name of an event source, whose events count if they pass the filter
 * but for its list of sources. -ENOENT, with an error: there are none, or they take no time. */
int diff_unit_count(const char *per, const struct recording_choice *choice,
		    struct trace_reader *reader, double *units, struct stackmap_error *error);

#endif
