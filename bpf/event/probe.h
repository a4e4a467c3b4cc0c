/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User functions. The task is about to run a copy of the instruction under the probe, so a callback
 * would find other registers. A stack that cannot be walked at once is saved for user space, and
 * its rules are found for the next time (steps_request). (Programs that may sleep could unwind
 * here, but on 6.18 they were sometimes not run for any hit of a task, and no counter shows that.)
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "emit.h"

static __always_inline bool on_user(struct pt_regs *ctx, u64 cookie)
{
	struct hit hit = {
		.kind = COOKIE_KIND(cookie),
		.is_probe = true,
		.at_entry = COOKIE_AT_ENTRY(cookie),
	};

	return event_emit(ctx, &hit, ctx);
}

#endif
