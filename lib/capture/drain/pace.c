/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nothing wakes the reader: a wakeup costs more than an event. */
#include "capture/drain/pace.h"

#include "clock.h"

#define WATCH_MS 1000 /* after code was met */

void pace_meet_code(struct pace *pace)
{
	pace->watch_until = clock_ms() + WATCH_MS;
}

void pace_await_table(struct pace *pace)
{
	u64 until = clock_ms() + PACE_MS_WATCH;

	if (pace->watch_until < until)
		pace->watch_until = until;
}

static int next_ms(int last, u32 fill)
{
	if (fill > 25)
		return last / 2 > PACE_MS_MIN ? last / 2 : PACE_MS_MIN;
	if (fill < 10)
		return last * 2 < PACE_MS_MAX ? last * 2 : PACE_MS_MAX;
	return last;
}

int pace_next(struct pace *pace, u32 fill)
{
	pace->ms = next_ms(pace->ms ?: PACE_MS_MIN, fill);
	if (pace->ms > PACE_MS_WATCH && clock_ms() < pace->watch_until)
		pace->ms = PACE_MS_WATCH;
	return pace->ms;
}
