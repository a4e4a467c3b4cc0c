/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time between two visits of a drain to the rings. Fuller rings and new code shorten it. The
 * programs wake the reader when they meet new code (bpf/mapping/user_mapping.h), and the reader
 * opens the file. Build id and unwind table are requested next, one after the other, and each
 * answer needs a visit: these visits come after 1, 2, 4... ms.
 *
 * With DEFERRAL_ASSISTED user space may meet code that the programs have not met. Programs that
 * live for some milliseconds come in series (builds, tests), so after new code the visits are
 * frequent for a while, to open the file of the next program while the file exists.
 *
 * Code is new once in a capture, not once in a file, so short windows do not make visits more
 * frequent. Empty rings are visited least often: the longest pause is one in which a burst of
 * events cannot fill a ring.
 */
#ifndef LIB_CAPTURE_PACE_H
#define LIB_CAPTURE_PACE_H

#include <stdbool.h>

#include "scalar.h"

#define PACE_MS_MIN 1 /* also the time until the first visit */
#define PACE_MS_MAX 100
#define PACE_MS_IDLE 500
#define PACE_MS_WATCH 2	       /* at most, while new code is watched for */
#define PACE_EVENTS_PER_MS 350 /* of one CPU, more than a kernel makes with stacks */

struct pace {
	int ms;		 /* between the last two visits; 0 = no visit yet */
	bool watches;	 /* visits are frequent for a while after new code */
	u64 watch_until; /* clock_ms(); the end of frequent visits */
};

/* Notes code that is new in this capture. */
void pace_meet_code(struct pace *pace);

/* Notes a request whose answer stacks of later events need. */
void pace_await_table(struct pace *pace);

/* The contents of the rings before a visit. */
struct pace_rings {
	u32 fill;	/* use of the fullest ring, in percent */
	bool had_event; /* one of the rings had an event */
	u32 slots;	/* size of each ring */
};

/* The time until the next visit, in ms. */
int pace_next(struct pace *pace, const struct pace_rings *rings);

#endif
