/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a drain visits the rings again: sooner the fuller the rings were, and soon after new code
 * was met. The programs wake the reader when they meet new code (new_code.h), and its file is
 * opened then. The build id and the unwind table are asked for next, one after the other, and each
 * answer needs a visit: these visits come after 1, 2, 4... ms.
 *
 * Where user space finishes stacks (DEFERRAL_ASSISTED), code may be met that the programs have not
 * met. Programs that live for some milliseconds come in swarms (builds, tests): after one, the next
 * is watched for while its file can still be opened.
 *
 * Code is new once in a capture, not once in a file: a machine that runs what it ran before is
 * visited seldom, however short the windows are. Rings that stay empty are visited more seldom yet:
 * the longest pause is one in which a burst of events cannot fill a ring.
 */
#ifndef LIB_CAPTURE_PACE_H
#define LIB_CAPTURE_PACE_H

#include <stdbool.h>

#include "scalar.h"

#define PACE_MS_MIN 1 /* the first visit is due then */
#define PACE_MS_MAX 100
#define PACE_MS_IDLE 500
#define PACE_MS_WATCH 2	       /* at most, while new code is watched for */
#define PACE_EVENTS_PER_MS 350 /* of one CPU, more than a kernel makes with stacks */

struct pace {
	int ms;		 /* between the last two visits; 0: there was none */
	bool watches;	 /* new code is watched for after new code */
	u64 watch_until; /* clock_ms(): until then */
};

/* Code was met that the capture had not met before. */
void pace_meet_code(struct pace *pace);

/* An answer is awaited that stacks of further events need. */
void pace_await_table(struct pace *pace);

/* The contents of the rings before a visit. */
struct pace_rings {
	u32 fill;	/* the fullest, in percent */
	bool had_event; /* any of them */
	u32 slots;	/* of each */
};

/* In how many ms the next visit is due. */
int pace_next(struct pace *pace, const struct pace_rings *rings);

#endif
