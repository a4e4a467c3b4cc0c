/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Anonymous mappings that hold code of a file (abi/moved_code.h): looked up where a mapping without
 * a file is met.
 */
#ifndef BPF_MOVED_MAPPING_H
#define BPF_MOVED_MAPPING_H

#include "kernel/vma.h"
#include "moved_code.h"
#include "state/engine_maps.h"

/* User space adds 1 when a mapping has become MOVED_FILE: this makes all cached mappings void. */
unsigned int moved_generation;

/* Shared memory is never compared: other processes may write to it. */
static __always_inline bool may_be_moved(const struct vma_entry *entry)
{
	return !(entry->flags & VM_SHARED);
}

/* Sets *key to the key of the mapping search->entry. */
static __always_inline void moved_key_of(struct moved_key *key, const struct vma_search *search)
{
	struct vm_area_struct *vma = (void *)search->entry.vma;

	key->mm = search->vma.space.mm;
	key->process = search->vma.space.process;
	key->execs = search->vma.space.execs;
	key->vma = search->entry.vma;
	key->stamp = 0;
	if (bpf_core_field_exists(vma->vm_lock_seq))
		key->stamp = BPF_CORE_READ(vma, vm_lock_seq);
}

/*
 * If the mapping search->entry, which is also search->vma, is known to hold a part of a file, turns
 * search->vma into that part. Returns the number of the file's mapping, or 0. Not inlined: on 6.1 a
 * map's key must be on the function's own BPF stack.
 */
__noinline u32 moved_number(struct vma_search *search)
{
	const struct moved_code *moved;
	struct moved_key key;
	u64 offset, image;
	u32 number;

	if (!search || search->vma.kind != MAPPING_ANON)
		return 0;
	moved_key_of(&key, search);
	moved = bpf_map_lookup_elem(&moved_code, &key);
	if (!moved || moved->state != MOVED_FILE || !may_be_moved(&search->entry))
		return 0;
	offset = moved->offset;
	image = moved->image;
	number = moved->number;
	if (moved->vma != key.vma)
		return 0;
	search->vma.start = search->entry.start;
	search->vma.end = search->entry.end;
	search->vma.file_offset = offset;
	search->vma.image = image;
	search->vma.has_image = 1;
	search->vma.kind = MAPPING_FILE;
	return number;
}

#endif
