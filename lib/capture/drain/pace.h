/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* When a drain visits the rings again: sooner the fuller they were, and while new code comes. */
#ifndef LIB_CAPTURE_PACE_H
#define LIB_CAPTURE_PACE_H

#include "scalar.h"

#define PACE_MS_MIN 1 /* the first visit is due then */
#define PACE_MS_MAX 100

struct pace {
	int ms;			   /* between the last two visits; 0: there was none */
	u64 code_met, watch_until; /* capture_code_met() at the last one; clock_ms() */
};

/* In how many ms the next visit is due. `fill` as capture_drain() tells it, `code_met` as
 * capture_code_met() does. */
int pace_next(struct pace *pace, u32 fill, u64 code_met);

#endif
