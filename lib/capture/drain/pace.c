/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events do not wake the reader, because a wakeup costs more than an event. */
#include "capture/drain/pace.h"

#include "clock.h"

#define WATCH_MS 1000 /* how long rounds are frequent after new code was seen */

void pace_note_new_code(struct pace *pace)
{
	if (pace->watches)
		pace->watch_until = clock_ms() + WATCH_MS;
	else
		pace->ms = 0;
}

int pace_next_ms(struct pace *pace, const struct pace_rings *rings)
{
	u32 ms = rings->slots / (rings->per_ms ?: PACE_EVENTS_PER_MS);
	int longest = rings->had_event || ms < PACE_MS_MAX ? PACE_MS_MAX
		      : ms < PACE_MS_IDLE		   ? (int)ms
							   : PACE_MS_IDLE;
	int next = pace->ms ?: PACE_MS_MIN;

	if (rings->fill > 25)
		next = next / 2 > PACE_MS_MIN ? next / 2 : PACE_MS_MIN;
	else {
		next *= rings->fill < 10 ? 2 : 1;
		next = next < longest ? next : longest;
	}
	pace->ms = next;
	if (pace->ms > PACE_MS_WATCH && clock_ms() < pace->watch_until)
		pace->ms = PACE_MS_WATCH;
	return pace->ms;
}
