/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The waiting side. Users stay for less than a microsecond, so a waiter yields instead of sleeping.
 */
#include "in_use.h"

#include <sched.h>

static void wait_empty(struct in_use *in_use, u32 phase)
{
	for (u32 i = 0; i < in_use->stripe_count; i++)
		while (__atomic_load_n(&in_use->stripes[i].users[phase], __ATOMIC_SEQ_CST))
			sched_yield();
}

void in_use_wait(struct in_use *in_use)
{
	u32 phase = in_use->phase;

	wait_empty(in_use, !phase);
	__atomic_store_n(&in_use->phase, !phase, __ATOMIC_SEQ_CST);
	wait_empty(in_use, phase);
}
