/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Claiming the working memory of one program run (abi/lane.h). */
#ifndef BPF_LANES_H
#define BPF_LANES_H

#include "instance.h"
#include "lane.h"

struct cpu_lanes {
	struct lane lane[LANES_PER_CPU];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* CPUs */
	__type(key, u32);
	__type(value, struct cpu_lanes);
} lanes SEC(".maps");

/* A free lane of this CPU, now the caller's; NULL, counted, when all are taken. */
static __always_inline struct lane *lane_claim(u32 cpu)
{
	struct cpu_lanes *own = bpf_map_lookup_elem(&lanes, &cpu);
	u32 i;

	if (!own)
		return NULL;
	for (i = 0; i < LANES_PER_CPU; i++)
		if (!atomic_load_relaxed(&own->lane[i].busy) &&
		    !atomic_exchange_acq_rel(&own->lane[i].busy, 1))
			return &own->lane[i];
	atomic_add_relaxed(&own->lane[0].refused, 1);
	return NULL;
}

static __always_inline void lane_release(struct lane *lane)
{
	atomic_store_release(&lane->busy, 0);
}

#endif
