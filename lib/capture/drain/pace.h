/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The time between two rounds of a drain. Fuller rings and new code shorten this time. The BPF
 * programs wake the reader when an event's stack has code that was not seen before
 * (bpf/mapping/user_mapping.h), and the reader opens the file of the code. The build id and the
 * unwind table of the file are requested then, one after the other; answers wake the reader, too.
 *
 * With DEFERRAL_ASSISTED, user space unwinds stacks and may find new code that the BPF programs
 * have not seen. Processes that live for some milliseconds often come in series (builds, tests).
 * After new code, rounds are therefore frequent for a while, so that the file of the next such
 * process is opened while the file exists.
 *
 * Code is new once in a capture, not once in a file, so short files do not make rounds more
 * frequent. Empty rings are read least often: the longest time is one in which a burst of events
 * cannot fill a ring.
 */
#ifndef LIB_CAPTURE_PACE_H
#define LIB_CAPTURE_PACE_H

#include <stdbool.h>

#include "scalar.h"

#define PACE_MS_MIN 1 /* least time between rounds, also the time until the first round */
#define PACE_MS_MAX 100
#define PACE_MS_IDLE 1000
#define PACE_MS_WATCH 2 /* longest time between rounds while more new code is expected */
/* Upper limit of the number of events that one CPU produces in a millisecond; a kernel that takes
 * stacks produces fewer. */
#define PACE_EVENTS_PER_MS 350

struct pace {
	int ms;		 /* time between the last two rounds; 0 = no round yet */
	bool watches;	 /* rounds are frequent for a while after new code */
	u64 watch_until; /* clock_ms() at the end of frequent rounds */
};

/* Shortens the time until the next rounds, because code was seen that is new in this capture. */
void pace_note_new_code(struct pace *pace);

/* The use of the rings before a round. */
struct pace_rings {
	u32 fill;	/* use of the fullest ring, in percent */
	bool had_event; /* true: one of the rings had an event */
	u32 slots;	/* number of slots of each ring */
	u32 per_ms;	/* most slots of a ring that a millisecond fills; 0: PACE_EVENTS_PER_MS */
};

/* Returns the time until the next round, in ms. */
int pace_next_ms(struct pace *pace, const struct pace_rings *rings);

#endif
