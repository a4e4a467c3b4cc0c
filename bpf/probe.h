/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User functions. The task is about to run the instruction under the probe out of its place, so no
 * request could be answered later: the registers would be others. Programs that may sleep unwind on
 * the spot.
 */
#ifndef BPF_PROBE_H
#define BPF_PROBE_H

#include "emit.h"
#include "unwinder.h"

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

static __always_inline int on_user_sleepable(struct pt_regs *ctx, u64 cookie)
{
	struct hit hit = hit_of_probe(ctx, cookie);
	u32 cpu = bpf_get_smp_processor_id(), index;
	struct unwinder *unwinder;

	if (!event_wanted(cpu))
		return 0;
	index = unwinder_take();
	hit.is_unwound = true;
	hit.unwinder = index;
	rcu_enter();
	event_record(ctx, &hit, cpu);
	rcu_leave();
	unwinder = bpf_map_lookup_elem(&unwinders, &index);
	if (unwinder)
		unwinder_release(unwinder);
	return 0;
}

#endif
