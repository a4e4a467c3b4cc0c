/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The divisor that makes recordings of different length comparable: the seconds that a recording
 * lasted, or the number of occurrences of a chosen event. */
#ifndef CLI_DIFF_UNIT_H
#define CLI_DIFF_UNIT_H

#include "recording.h"

#define UNIT_SECOND "second"

/* `per`: UNIT_SECOND, or the name of an event source, whose events count if they pass the filter
 * except its list of sources. -ENOENT, with an error: there are no such events, or they span no
 * time. */
int diff_unit_count(const char *per, const struct recording_choice *choice,
		    struct trace_reader *reader, double *units, struct stackmap_error *error);

#endif
