/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nothing wakes the reader: a wakeup costs more than an event. */
#include "capture/drain/pace.h"

#include <stdbool.h>

#include "clock.h"

#define WATCH_MS 1000 /* after code was met */

/* Files are opened when their code is met, and programs that do not live long come in swarms
 * (builds, tests): after one, the next is looked for while it is there. */
static bool meets_code(struct pace *pace, u64 code_met)
{
	u64 now = clock_ms();

	if (code_met != pace->code_met)
		pace->watch_until = now + WATCH_MS;
	pace->code_met = code_met;
	return now < pace->watch_until;
}

static int next_ms(int last, u32 fill, bool meets)
{
	if (meets)
		return PACE_MS_MIN;
	if (fill > 25)
		return last / 2 > PACE_MS_MIN ? last / 2 : PACE_MS_MIN;
	if (fill < 10)
		return last * 2 < PACE_MS_MAX ? last * 2 : PACE_MS_MAX;
	return last;
}

int pace_next(struct pace *pace, u32 fill, u64 code_met)
{
	pace->ms = next_ms(pace->ms ?: PACE_MS_MIN, fill, meets_code(pace, code_met));
	return pace->ms;
}
