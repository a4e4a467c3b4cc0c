/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Claims the working memory of one program run (abi/scratch.h). */
#ifndef BPF_SCRATCH_H
#define BPF_SCRATCH_H

#include "instance.h"
#include "map.h"
#include "scratch.h"

struct cpu_scratch {
	struct scratch scratch[SCRATCH_SLOTS];
};

SHARED_ARRAY_MAP(scratch_slots, 1, struct cpu_scratch); /* key: CPU */

/*
 * Claims a free scratch slot of this CPU. Returns its index, or SCRATCH_SLOTS if all are taken. A
 * global function: its result is any number to the verifier, which then walks the caller once and
 * not once for each scratch slot.
 */
__noinline u32 scratch_claim_index(u32 cpu)
{
	struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);
	u32 i;

	if (!own)
		return SCRATCH_SLOTS;
	for (i = 0; i < SCRATCH_SLOTS; i++)
		if (!atomic_load_relaxed(&own->scratch[i].busy) &&
		    !atomic_exchange_acq_rel(&own->scratch[i].busy, 1))
			return i;
	return SCRATCH_SLOTS;
}

/* A scratch slot that the caller owns until scratch_release(), or NULL. */
static __always_inline struct scratch *scratch_claim(u32 cpu)
{
	struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);
	u32 i;

	if (!own)
		return NULL;
	i = scratch_claim_index(cpu);
	core_one_register(i);
	if (i >= SCRATCH_SLOTS)
		return NULL;
	own->scratch[i].index = i;
	own->scratch[i].wants_callback = 0;
	own->scratch[i].position = 0;
	return &own->scratch[i];
}

/*
 * Number of lost events of each source (SOURCE_LOSSES_AT()), beside the counters of the scratch
 * slots, which count the same losses first. User space sets the number of elements.
 */
SHARED_ARRAY_MAP(source_losses, 1, u64);

static __always_inline void count_source_loss(u32 cpu, u32 kind)
{
	u32 at = SOURCE_LOSSES_AT(config, cpu, kind);
	u64 *lost = kind < config.losses ? bpf_map_lookup_elem(&source_losses, &at) : NULL;

	if (lost)
		atomic_add_relaxed(lost, 1);
}

/* Counts an event that found no scratch slot. */
__noinline int count_event_without_scratch_slot(u32 cpu, u32 kind)
{
	struct cpu_scratch *own = bpf_map_lookup_elem(&scratch_slots, &cpu);

	if (own)
		atomic_add_relaxed(&own->scratch[0].refused, 1);
	count_source_loss(cpu, kind);
	return 0;
}

static __always_inline void scratch_release(struct scratch *scratch)
{
	atomic_store_release(&scratch->busy, 0);
}

#endif
