/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the mapping of the current task that contains an address, in any context, without a lock.
 *
 * bpf_find_vma() takes the mmap lock; in an interrupt it succeeds once and costs 10 us. The kernel
 * keeps the mappings of a process in a maple tree (lib/maple_tree.c, since 6.1). Its own page fault
 * path walks the tree under RCU; this walk does the same with fault-proof reads.
 *
 * Another thread may change the mappings meanwhile. To split or join mappings, the kernel first
 * writes the fields of a mapping (begin and end, then its offset in the file) and then the tree. A
 * mapping therefore counts only while its fields and the tree agree, and its file only if it is
 * still mapped after all was read. Otherwise the address has no known mapping, and the caller may
 * look again.
 *
 * A node is 256 bytes and aligned to that. The low byte of a pointer to a node holds its type, and
 * the root has a mark of a node (a tree of one entry has no node). A node has pivots and slots:
 * slot i covers addresses up to pivot[i]; a zero pivot (except the first) ends the pivots; the last
 * slot has no pivot. The first word of a node is its parent.
 */
#ifndef BPF_VMA_H
#define BPF_VMA_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "env.h"
#include "kernel_types.h"
#include "scratch.h"

#define MAPLE_TYPE(entry) (((entry) >> 3) & 15)
#define MAPLE_NODE(entry) ((entry) & ~255ULL)
#define MAPLE_ROOT_IS_NODE(entry) (((entry)&3) == 2 && (entry) > 4096)
/* result of a search for an entry: the tree has changed during the search */
#define MAPLE_CHANGED 1
#define MAPLE_LEAF_64 1
#define MAPLE_ARANGE_64 3
#define MAPLE_LEVELS_MAX 8
#define MAPLE_PIVOTS_MAX 15
#define MAPLE_PAGE_SHIFT 12

#define VM_WRITE 2UL
#define VM_EXEC 4UL
#define VM_SHARED 8UL
#define VM_HUGETLB 0x400000UL

/*
 * The index of the slot that covers the address, in search->node. Narrows search->entry to the
 * slot's range.
 *
 * A pivot is the last byte of a page, so page numbers are compared, which differ by less than 2^63.
 * A pivot of 0 ends the node: less one byte, it is beyond all pages. A subtraction compares, since
 * a branch at each pivot would be two paths for the verifier.
 */
__noinline u32 maple_slot_index(struct vma_search *search, u32 arange, u64 address)
{
	u32 pivots = arange ? bpf_core_field_size(struct maple_arange_64, pivot) / 8
			    : bpf_core_field_size(struct maple_range_64, pivot) / 8;
	u32 first_pivot = arange ? bpf_core_field_offset(struct maple_arange_64, pivot) / 8
				 : bpf_core_field_offset(struct maple_range_64, pivot) / 8;
	u32 first_slot = arange ? bpf_core_field_offset(struct maple_arange_64, slot) / 8
				: bpf_core_field_offset(struct maple_range_64, slot) / 8;
	u64 page = address >> MAPLE_PAGE_SHIFT, is_passed;
	const u64 *pivot;
	u32 i, index, before;

	if (!search)
		return 0;
	pivot = &search->node[first_pivot & 15];
	is_passed = index = is_below(pivot[0] >> MAPLE_PAGE_SHIFT, page);
#pragma unroll
	for (i = 1; i < MAPLE_PIVOTS_MAX; i++) {
		is_passed &= is_below((pivot[i] - 1) >> MAPLE_PAGE_SHIFT, page);
		index += is_passed;
	}
	if (index > pivots)
		index = pivots;
	core_one_register(index);
	index &= 15;
	before = index - 1;
	core_one_register(before); /* the verifier of 6.1 takes `before` for negative */
	if (index)
		search->entry.start = pivot[before & 15] + 1;
	if (index < pivots && (pivot[index] || !index))
		search->entry.end = pivot[index] + 1;
	return first_slot + index;
}

/*
 * True if a node is part of the tree. The kernel marks a node that it removes by making it its own
 * parent, before it overwrites the node's first pivots with the list of memory to be freed.
 */
static __always_inline bool is_node_of_tree(u64 node)
{
	u64 parent;

	return !bpf_probe_read_kernel(&parent, sizeof(parent), (void *)node) &&
	       MAPLE_NODE(parent) != node;
}

/* Copies a node of the maple tree to search->node. Returns false if the kernel has removed the node
 * from the tree meanwhile. */
static __always_inline bool maple_node_read(struct vma_search *search, u64 entry)
{
	u64 node = MAPLE_NODE(entry);

	return !bpf_probe_read_kernel(search->node, sizeof(search->node), (void *)node) &&
	       is_node_of_tree(node);
}

/*
 * The tree's entry for an address of search->vma.space; 0: a gap; MAPLE_CHANGED: the tree is being
 * changed there.
 */
static __always_inline u64 maple_find_entry_of_address(struct vma_search *search, u64 address)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;
	u64 entry = (u64)BPF_CORE_READ(mm, mm_mt.ma_root);
	u32 level;

	if (!MAPLE_ROOT_IS_NODE(entry))
		return 0;
	for (level = 0; level < MAPLE_LEVELS_MAX; level++) {
		u32 type = MAPLE_TYPE(entry), index;

		if (!maple_node_read(search, entry))
			return MAPLE_CHANGED;
		index = maple_slot_index(search, is_below(type ^ MAPLE_ARANGE_64, 1), address) & 31;
		search->slot = MAPLE_NODE(entry) + 8 * index;
		entry = search->node[index];
		if (type == MAPLE_LEAF_64)
			return entry;
	}
	return MAPLE_CHANGED;
}

static __always_inline bool has_range_of_entry(struct vm_area_struct *vma,
					       const struct vma_search *search)
{
	return (u64)BPF_CORE_READ(vma, vm_mm) == search->vma.space.mm &&
	       BPF_CORE_READ(vma, vm_start) == search->entry.start &&
	       BPF_CORE_READ(vma, vm_end) == search->entry.end;
}

/*
 * Sets search->entry to the entry of an address of search->vma.space. False: a gap; or, if
 * entry.vma is not 0, a mapping that is being changed.
 */
__noinline bool vma_find(struct vma_search *search, u64 address)
{
	struct vm_area_struct *vma;
	struct vma_entry *entry;

	if (!search)
		return false;
	entry = &search->entry;
	*entry = (struct vma_entry){.end = ~0ULL};
	entry->vma = maple_find_entry_of_address(search, address);
	vma = (void *)entry->vma;
	if (!vma)
		return false;
	entry->flags = BPF_CORE_READ(vma, vm_flags);
	entry->page = BPF_CORE_READ(vma, vm_pgoff);
	entry->file = (u64)BPF_CORE_READ(vma, vm_file);
	return has_range_of_entry(vma, search);
}

/* True if the mapping found last is still in the tree: its file has not been freed meanwhile. */
static __always_inline bool is_mapped_still(const struct vma_search *search)
{
	u64 vma;

	return !bpf_probe_read_kernel(&vma, sizeof(vma), (void *)search->slot) &&
	       vma == search->entry.vma && is_node_of_tree(MAPLE_NODE(search->slot));
}

/*
 * Lists all executable mappings of an address space, by address. The maple tree (bpf/kernel/vma.h)
 * is walked leaf by leaf: the pivots on the way down to a leaf give its last address, and the next
 * leaf covers the address after it.
 */

#define MAPLE_SLOTS_MAX 16
#define MAPLE_LEAVES_MAX 1024

/*
 * Copies the leaf of the maple tree that covers an address to search->node. Returns the last
 * address that the leaf covers, or 0.
 */
__noinline u64 vma_copy_maple_leaf(struct vma_search *search, u64 address)
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
 * mapping begins between `from` and `last`; else 0. Slots after the leaf's last used one hold
 * garbage, also mappings that have moved to the next leaf.
 */
__noinline u64 vma_code_start_in_leaf_slot(struct vma_search *search, u32 i, u64 from, u64 last)
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
