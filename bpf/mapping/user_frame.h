/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One user address as a position-independent frame, from the mappings of the current task. Found
 * mappings are cached in the scratch slot by page: in steady state a frame costs one lookup in the
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

static __always_inline struct known_vma *page_cache_slot_of_address(struct scratch *scratch,
								    u64 address)
{
	u64 key = (address >> 12) + (scratch->search.vma.space.mm >> 6);

	return &scratch->page[(key ^ key >> 8) & (SCRATCH_PAGES - 1)];
}

/* Caches scratch->search.vma as the mapping of the page of an address. */
static __always_inline void page_cache_put(struct scratch *scratch, u64 address)
{
	if (!(scratch->search.vma.space.sequence & 1))
		*page_cache_slot_of_address(scratch, address) = scratch->search.vma;
}

/*
 * Sets scratch->search.vma to the mapping of an address. Calls mapping_find() only if the page is
 * not cached, and returns its errors.
 */
static __always_inline int mapping_find_with_page_cache(struct scratch *scratch, u64 address)
{
	struct known_vma *page = page_cache_slot_of_address(scratch, address);
	int error;

	if (is_vma_valid_for(page, &scratch->search.vma.space, address)) {
		scratch->search.vma = *page;
		return 0;
	}
	error = mapping_find(&scratch->search, address);
	if (!error)
		page_cache_put(scratch, address);
	return error;
}

/* mapping_find_with_page_cache() as a global function, which is verified once. */
__noinline int find_mapping_of_page(struct scratch *scratch, u64 address)
{
	return scratch ? mapping_find_with_page_cache(scratch, address) : -EINVAL;
}

/* Translates a raw user address to a frame; 0: no code is mapped there. */
static __always_inline u64 user_frame(struct scratch *scratch, u64 address)
{
	struct known_vma *vma = &scratch->search.vma;

	if (!vma_covers(vma, address)) {
		int error = find_mapping_of_page(scratch, address);

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
