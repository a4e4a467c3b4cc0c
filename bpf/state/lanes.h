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

/*
 * Claims a free lane of this CPU: its index, or LANES_PER_CPU when all are taken. A global
 * function: its result is any number to the verifier, which then walks the caller once and not once
 * for each lane.
 */
__noinline u32 lane_claim_index(u32 cpu)
{
	struct cpu_lanes *own = bpf_map_lookup_elem(&lanes, &cpu);
	u32 i;

	if (!own)
		return LANES_PER_CPU;
	for (i = 0; i < LANES_PER_CPU; i++)
		if (!atomic_load_relaxed(&own->lane[i].busy) &&
		    !atomic_exchange_acq_rel(&own->lane[i].busy, 1))
			return i;
	return LANES_PER_CPU;
}

/* A lane that is the caller's until lane_release(), or NULL. */
static __always_inline struct lane *lane_claim(u32 cpu)
{
	struct cpu_lanes *own = bpf_map_lookup_elem(&lanes, &cpu);
	u32 i;

	if (!own)
		return NULL;
	i = lane_claim_index(cpu);
	core_one_register(i);
	if (i >= LANES_PER_CPU)
		return NULL;
	own->lane[i].index = i;
	return &own->lane[i];
}

/* An event that found no lane is lost. */
__noinline int lane_refuse(u32 cpu)
{
	struct cpu_lanes *own = bpf_map_lookup_elem(&lanes, &cpu);

	if (own)
		atomic_add_relaxed(&own->lane[0].refused, 1);
	return 0;
}

static __always_inline void lane_release(struct lane *lane)
{
	atomic_store_release(&lane->busy, 0);
}

#endif
