/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user stack of the current task at the event itself, without frame pointers, as far as all
 * rules are known and all memory is readable (core/unwind/direct_walk.h).
 *
 * The program includes cached_rule.c, code_rule.c, return_search.c, rule_search.c,
 * table_search.c and direct_walk.c after this header.
 */
#ifndef BPF_DIRECT_STACK_H
#define BPF_DIRECT_STACK_H

#include "mapping/user_frame.h"
#include "mapping/vma_image.h"
#include "stack/table_chunks.h"
#include "state/engine_maps.h"
#include "unwind/direct_walk.h"

_Static_assert(SCRATCH_SLOTS == STEP_CACHE_SLOTS, "each slot has a step of its own");

/* One cache of steps for each CPU; user space sets the number. */
ARRAY_MAP(steps, 1, struct step_cache);

CORE_INLINE bool direct_read(u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

/*
 * Makes scratch->search.vma the mapping of a pc of the walk. Returns the pc; or, if the pc is an
 * address that a return probe has put on the stack, the original return address; 0: no code is
 * mapped at the pc.
 */
__noinline u64 direct_find_mapping_of_pc(struct scratch *scratch, u64 pc)
{
	if (!scratch)
		return 0;
	if (!mapping_find_by_cache(scratch, pc))
		return pc;
	pc = original_return_address_of_word(scratch->direct.registers.value[REGISTER_SP] - 8);
	if (!pc || mapping_find_by_cache(scratch, pc))
		return 0;
	scratch->direct.registers.value[REGISTER_PC] = pc;
	return pc;
}

/*
 * The frame of a pc. A pc without a mapping number has no frame: its address alone would be
 * ambiguous between processes.
 */
CORE_INLINE u64 direct_frame_of_pc(struct direct *direct, u64 pc, bool *is_generated)
{
	struct scratch *scratch = direct->memory;
	struct known_vma *vma = &scratch->search.vma;

	if (!vma_covers(vma, pc)) {
		pc = direct_find_mapping_of_pc(scratch, pc);
		if (!pc)
			return 0;
	}
	*is_generated = vma->kind == MAPPING_ANON;
	return FRAME_USER(vma->number, pc - vma->start + vma->file_offset);
}

/*
 * True if the mapping's file has no ELF header in memory. The search is made once for each state of
 * the mappings, so not on kernels that do not tell whether mappings have changed.
 */
CORE_INLINE bool direct_code_has_no_elf_header(struct direct *direct)
{
	struct scratch *scratch = direct->memory;
	struct known_vma *vma = &scratch->search.vma;

	if (!vma->has_image) {
		if (vma->space.sequence & SEQUENCE_CHANGING || image_lookup(&scratch->search))
			return false;
		vma->has_image = 1;
		mapping_cache_put(scratch, scratch->direct.registers.value[REGISTER_PC]);
	}
	return !vma->image;
}

CORE_INLINE struct code_range direct_mapping_range(struct direct *direct)
{
	const struct scratch *scratch = direct->memory;
	const struct known_vma *vma = &scratch->search.vma;

	return (struct code_range){vma->start, vma->end, is_below(vma->kind ^ MAPPING_VDSO, 1)};
}

/*
 * Turns a leaf without callers into a stack of one frame, so that its flags tell how the stack
 * ended.
 */
static __always_inline void make_lone_leaf_a_stack(struct scratch *scratch)
{
	if (scratch->user.depth || !scratch->direct.leaf)
		return;
	scratch->user.word[0] = scratch->direct.leaf;
	scratch->user.depth = 1;
	scratch->direct.leaf = 0;
}

/*
 * Walks from scratch->direct.registers, after set_search_to_current_address_space(): frames to
 * scratch->user, the stop to scratch->direct.stop. The stack counts only if
 * scratch->direct.is_final.
 */
static __always_inline void direct_stack_walk(struct scratch *scratch, u32 cpu, u32 max_depth,
					      u32 leaf_apart)
{
	struct direct direct = {
		.walk = &scratch->direct,
		.steps = bpf_map_lookup_elem(&steps, &cpu),
		.rules = current_rule_cache(),
		.stack = &scratch->user,
		.memory = scratch,
	};

	struct engine_state *engine = current_engine_state();

	scratch->direct.stop = STOP_NO_RULE;
	scratch->direct.has_left_generated = 0;
	scratch->direct.is_final = 0;
	if (!direct.steps || !direct.rules || !engine)
		return;
	scratch->direct.generation = STEP_GENERATION(atomic_load_relaxed(&engine->step_generation));
	scratch->direct.leaves_generated = atomic_load_relaxed(&engine->leaves_generated);
	scratch->direct.search.space = scratch->search.vma.space;
	scratch->direct.max_depth = max_depth;
	scratch->direct.leaf_apart = leaf_apart;
	scratch->direct.slot = scratch->index;
	direct_walk(&direct);
	make_lone_leaf_a_stack(scratch);
}

#endif
