/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists all executable mappings of an address space, by address. The maple tree (bpf/kernel/vma.h)
 * is walked leaf by leaf: the pivots on the way down to a leaf give its last address, and the next
 * leaf covers the address behind it.
 */
#ifndef BPF_VMA_LIST_H
#define BPF_VMA_LIST_H

#include "env.h"
#include "vma.h"

#define MAPLE_SLOTS_MAX 16
#define MAPLE_LEAVES_MAX 1024

/* Copies the leaf of an address to search->node. Returns the last address that it covers, or 0. */
__noinline u64 vma_leaf(struct vma_search *search, u64 address)
{
	struct mm_struct *mm;
	u64 entry;
	u32 level;

	if (!search)
		return 0;
	mm = (void *)search->vma.space.mm;
	entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	if (!MAPLE_ROOT_IS_NODE(entry))
		return 0;
	search->entry = (struct vma_entry){}; /* `end` 0 stands for the end of all addresses */
	for (level = 0; level < MAPLE_LEVELS_MAX; level++) {
		if (!maple_node_read(search, entry))
			return 0;
		if (MAPLE_TYPE(entry) == MAPLE_LEAF_64)
			return search->entry.end - 1;
		if (MAPLE_TYPE(entry) != MAPLE_ARANGE_64)
			return 0;
		entry = search->node[maple_slot_index(search, 1, address) & 31];
	}
	return 0;
}

/*
 * The first address of the executable mapping in slot `i` of the leaf in search->node, if the
 * mapping begins between `from` and `last`; else 0. Slots behind the leaf's last used one hold
 * garbage, also mappings that have moved to the next leaf.
 */
__noinline u64 vma_leaf_code(struct vma_search *search, u32 i, u64 from, u64 last)
{
	u32 first_slot = bpf_core_field_offset(struct maple_range_64, slot) / 8;
	struct vm_area_struct *vma;
	u64 start;

	if (!search)
		return 0;
	vma = (void *)search->node[(first_slot + i) & 31];
	if (!vma || (u64)BPF_CORE_READ(vma, vm_mm) != search->vma.space.mm ||
	    !(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return 0;
	start = BPF_CORE_READ(vma, vm_start);
	return start >= from && start <= last ? start : 0;
}

#endif
