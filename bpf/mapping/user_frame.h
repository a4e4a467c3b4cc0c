/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One user address as a position-independent frame, from the mappings of the current task. Found
 * mappings are cached in the scratch slot: in steady state a frame costs one lookup in the
 * cache and none in the kernel's mappings.
 */
#ifndef BPF_USER_FRAME_H
#define BPF_USER_FRAME_H

#include "state/task_ids.h"
#include "user_mapping.h"

#define SEQUENCE_CHANGING 1U

/*
 * Sets search->vma.space to a task's address space, with no mapping yet. False: the task has no
 * address space.
 *
 * A cached mapping is valid while mm_lock_seq of its address space keeps its value. mm_lock_seq is
 * odd while the kernel changes mappings; an odd `sequence` matches no cached mapping, and a search
 * under it caches no mapping.
 */
static __always_inline bool set_search_to_address_space_of_task(struct vma_search *search,
								struct task_struct *task)
{
	struct address_space *space = &search->vma.space;
	struct mm_struct *mm = task->mm;

	search->tgid = tgid_of_typed_task(task);
	search->vma.start = search->vma.end = 0;
	space->mm = (u64)mm;
	if (!mm)
		return false;
	space->process = task->group_leader->start_time;
	space->execs = task->self_exec_id;
	space->sequence = SEQUENCE_CHANGING;
	if (bpf_core_field_exists(mm->mm_lock_seq))
		space->sequence = mm->mm_lock_seq.sequence + 2 * moved_generation;
	/* the address is read back as a number: the verifier refuses arithmetic on a pointer */
	barrier_compiler();
	return true;
}

/*
 * set_search_to_address_space_of_task() for the current task. Workers of io_uring are left out:
 * they have the memory of a process, but never were in user mode. The function is global, so the
 * verifier checks it once: for each pointer that is loaded from a typed task, the verifier searches
 * all names of the kernel's types.
 */
__noinline int set_search_to_current_address_space(struct vma_search *search)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return search && !(task->flags & PF_IO_WORKER) &&
	       set_search_to_address_space_of_task(search, task);
}

/*
 * The cache of mappings. A block of 64 KiB of one address space belongs to a set of four slots, the
 * latest first. Few mappings of code are smaller than a block. With a single slot, code of two
 * processes would often share the slot, and each switch would replace the mapping of the other one.
 */
#define MAPPING_BLOCK_BITS 16
#define MAPPING_SETS_BITS 6
#define MAPPING_SETS (1U << MAPPING_SETS_BITS)
#define MAPPING_WAYS 4
#define MAPPING_SLOT(set, way) (((set) & (MAPPING_SETS - 1)) + (way)*MAPPING_SETS)
_Static_assert(SCRATCH_MAPPINGS == MAPPING_WAYS << MAPPING_SETS_BITS, "the sets have all slots");

static __always_inline u64 mapping_cache_set(const struct scratch *scratch, u64 address)
{
	u64 key = (address >> MAPPING_BLOCK_BITS) + scratch->search.vma.space.mm;

	return key * 0x9e3779b97f4a7c15ULL >> (64 - MAPPING_SETS_BITS);
}

/*
 * Caches scratch->search.vma as the mapping of an address. The slots of the set move on by one,
 * unless the first one holds this mapping already.
 */
__noinline int mapping_cache_put(struct scratch *scratch, u64 address)
{
	u64 set;
	u32 way = MAPPING_WAYS - 1;

	if (!scratch || scratch->search.vma.space.sequence & SEQUENCE_CHANGING)
		return 0;
	set = mapping_cache_set(scratch, address);
	if (is_vma_valid_for(&scratch->mapping[MAPPING_SLOT(set, 0)], &scratch->search.vma.space,
			     address))
		way = 0;
	for (; way; way--)
		scratch->mapping[MAPPING_SLOT(set, way)] =
			scratch->mapping[MAPPING_SLOT(set, way - 1)];
	scratch->mapping[MAPPING_SLOT(set, 0)] = scratch->search.vma;
	return 0;
}

static __always_inline bool mapping_cache_take(struct scratch *scratch, u64 slot, u64 address)
{
	const struct known_vma *mapping = &scratch->mapping[slot];

	if (!is_vma_valid_for(mapping, &scratch->search.vma.space, address))
		return false;
	scratch->search.vma = *mapping;
	return true;
}

/* Sets scratch->search.vma from a slot of the set after the first one. False: none of them has the
 * mapping of the address. */
__noinline int mapping_cache_take_from_further_slots(struct scratch *scratch, u64 set, u64 address)
{
	u32 way;

	for (way = 1; scratch && way < MAPPING_WAYS; way++)
		if (mapping_cache_take(scratch, MAPPING_SLOT(set, way), address))
			return true;
	return false;
}

/*
 * Sets scratch->search.vma to the mapping of an address. Calls mapping_find() only if the mapping
 * is not cached, and returns its errors.
 */
static __always_inline int mapping_find_by_cache(struct scratch *scratch, u64 address)
{
	u64 set = mapping_cache_set(scratch, address);
	int error;

	if (mapping_cache_take(scratch, MAPPING_SLOT(set, 0), address) ||
	    mapping_cache_take_from_further_slots(scratch, set, address))
		return 0;
	error = mapping_find(&scratch->search, address);
	if (!error)
		mapping_cache_put(scratch, address);
	return error;
}

/* mapping_find_by_cache() as a global function, which is verified once. */
__noinline int mapping_find_of_address(struct scratch *scratch, u64 address)
{
	return scratch ? mapping_find_by_cache(scratch, address) : -EINVAL;
}

/* Translates a raw user address to a frame; 0: no code is mapped there. */
static __always_inline u64 user_frame(struct scratch *scratch, u64 address)
{
	struct known_vma *vma = &scratch->search.vma;

	if (!vma_covers(vma, address)) {
		int error = mapping_find_of_address(scratch, address);

		if (error == -ENOENT)
			return 0;
		if (error) {
			scratch->counters.unknown_frames++;
			return FRAME_USER(MAPPING_UNKNOWN, address);
		}
	}
	return FRAME_USER(vma->number, address - vma->start + vma->file_offset);
}

#endif
