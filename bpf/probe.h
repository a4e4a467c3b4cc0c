/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User functions. The task is about to run the instruction under the probe out of its place, so no
 * callback could answer later: the registers would be others. What cannot be walked at once is
 * saved for user space. (Programs that may sleep could unwind here, but the kernel, 6.18, leaves
 * hits of such programs out now and then, all of a task, and nobody counts them.)
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "emit.h"

static __always_inline struct hit hit_of_probe(const struct pt_regs *ctx, u64 cookie)
{
	struct hit hit = {
		.kind = COOKIE_KIND(cookie),
		.is_probe = true,
		.at_entry = COOKIE_AT_ENTRY(cookie),
	};

	return hit;
}

static __always_inline int on_user(struct pt_regs *ctx, u64 cookie)
{
	struct hit hit = hit_of_probe(ctx, cookie);

	return event_emit(ctx, &hit);
}

#endif
