/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack of the current task at the event itself, without frame pointers, as far as all of
 * it is known and readable (core/unwind/direct_walk.h).
 *
 * The program includes cached_rule.c and direct_walk.c behind this.
 */
#ifndef BPF_DIRECT_STACK_H
#define BPF_DIRECT_STACK_H

#include "mapping/user_frame.h"
#include "state/engine_maps.h"
#include "unwind/direct_walk.h"

/* User space sets their number to that of the CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct step_cache);
} steps SEC(".maps");

CORE_INLINE bool direct_read(struct direct *direct, u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

/* A pc whose mapping has no number has no frame: its address would stand for any process's. */
CORE_INLINE u64 direct_frame(struct direct *direct, u64 pc, u64 *code_start)
{
	struct lane *lane = direct->memory;
	struct lane_vma *vma = &lane->search.vma;

	if (!covers(vma, pc) && page_find(lane, pc)) {
		pc = probed_return(lane->direct.registers.value[REGISTER_RSP] - 8);
		if (!pc || page_find(lane, pc))
			return 0;
		lane->direct.registers.value[REGISTER_RIP] = pc;
	}
	if (vma->kind == MAPPING_ANON)
		*code_start = vma->start;
	return FRAME_USER(vma->number, pc - vma->start + vma->file_offset);
}

/* A leaf without callers is a stack of one frame: its end is then known. */
static __always_inline void leaf_rejoin(struct lane *lane)
{
	if (lane->user.depth || !lane->direct.leaf)
		return;
	lane->user.word[0] = lane->direct.leaf;
	lane->user.depth = 1;
	lane->direct.leaf = 0;
}

/*
 * Walks from lane->direct.registers, after address_space_enter(): frames to lane->user, the stop to
 * lane->direct.stop. The stack counts only if that is STOP_ROOT or STOP_DEPTH.
 */
static __always_inline void direct_stack_walk(struct lane *lane, u32 cpu, u32 max_depth,
					      u32 leaf_apart)
{
	struct direct direct = {
		.walk = &lane->direct,
		.steps = bpf_map_lookup_elem(&steps, &cpu),
		.rules = rules_current(),
		.stack = &lane->user,
		.memory = lane,
	};

	lane->direct.stop = STOP_NO_RULE;
	if (!direct.steps || !direct.rules)
		return;
	lane->direct.space = lane->search.vma.space;
	lane->direct.max_depth = max_depth;
	lane->direct.leaf_apart = leaf_apart;
	lane->direct.owns_steps = !lane->index;
	direct_walk(&direct);
	leaf_rejoin(lane);
}

#endif
