/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The weights of the events of each source of a profile, and their sums. Weights of two sources
 * do not add up: one may be in ns, the other in events. */
#ifndef LIB_REPORT_PROFILE_WEIGHTS_H
#define LIB_REPORT_PROFILE_WEIGHTS_H

#include "profile.h"

/* Arrays by source. */
struct profile_weights {
	enum profile_weight *by;
	u64 *totals; /* weight of the source's events */
	u64 *counts; /* the source's events */
};

/* `by`: "count", "value", or NULL: by value where that has a unit. A source without values weighs
 * by count in any case. Sorts the profile by it. 0 or -ENOMEM. */
int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights);
void profile_weights_clear(struct profile_weights *weights);

#endif
