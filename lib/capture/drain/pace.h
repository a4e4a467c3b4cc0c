/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a drain visits the rings again: sooner the fuller the rings were, and soon while new code
 * comes. A file is opened when its code is met. Programs that live for some milliseconds come in
 * swarms (builds, tests): after one, the next is watched for while its file can still be opened.
 *
 * Code is new once in a capture, not once in a file: a machine that runs what it ran before is
 * visited seldom, however short the windows are.
 */
#ifndef LIB_CAPTURE_PACE_H
#define LIB_CAPTURE_PACE_H

#include "scalar.h"

#define PACE_MS_MIN 1 /* the first visit is due then */
#define PACE_MS_MAX 100
#define PACE_MS_WATCH 2 /* at most, while new code comes */

struct pace {
	int ms;		 /* between the last two visits; 0: there was none */
	u64 watch_until; /* clock_ms(): until then new code is watched for */
};

/* Code was met that the capture had not met before. */
void pace_meet_code(struct pace *pace);

/* An answer is awaited that stacks of further events need. */
void pace_await_table(struct pace *pace);

/* In how many ms the next visit is due. `fill`: the fullest ring before this visit, in percent. */
int pace_next(struct pace *pace, u32 fill);

#endif
