/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests that user space compare an anonymous mapping with the file beside it (abi/mapping.h).
 * Programs move memory between two pages, so the rest of the code's segment, or the segment before
 * or behind it, is still a mapping of the file. Memory of just-in-time compilers mostly lies beside
 * no file.
 *
 * The request needs more BPF stack than is left where mappings are met, so it is made after a walk.
 */
#ifndef BPF_MOVED_WANT_H
#define BPF_MOVED_WANT_H

#include "user_mapping.h"

/*
 * Sets search->record.key to the key of the file that is mapped at an address. False: no file is
 * mapped there.
 */
static __always_inline bool is_file_at(struct vma_search *search, u64 address)
{
	return !mapping_lookup(search, address) && search->record.key.kind == MAPPING_FILE;
}

/* True if the mapping search->entry was met before. Sets search->moved_key and search->moved. */
__noinline int moved_begin(struct vma_search *search)
{
	struct moved_key key;

	if (!search)
		return 1;
	moved_key_of(&key, search);
	search->moved_key = key;
	search->moved = (struct moved_code){
		.vma = key.vma,
		.state = MOVED_WANTED,
		.tgid = search->tgid,
		.is_writable = (search->entry.flags & VM_WRITE) != 0,
		.start = search->entry.start,
		.end = search->entry.end,
	};
	return bpf_map_lookup_elem(&moved_code, &key) != NULL;
}

/* Inserts search->moved. On 6.1 key and value must be on the BPF stack. */
__noinline int moved_put(struct vma_search *search)
{
	struct moved_code moved;
	struct moved_key key;

	if (!search)
		return 0;
	key = search->moved_key;
	moved = search->moved;
	bpf_map_update_elem(&moved_code, &key, &moved, BPF_NOEXIST);
	return 0;
}

/*
 * Notes the mapping search->entry, which has no file, for a comparison with the file beside it. A
 * global function: verified once.
 */
__noinline int moved_want(struct vma_search *search)
{
	bool is_file;

	if (!search || !may_be_moved(&search->entry) || moved_begin(search))
		return 0;
	search->wants_data = 1;
	is_file = is_file_at(search, search->moved.start - 1) ||
		  is_file_at(search, search->moved.end);
	search->wants_data = 0;
	if (!is_file)
		return 0;
	search->moved.number = mapping_number(search);
	if (!search->moved.number)
		search->moved.number = mapping_add(search, true);
	if (search->moved.number)
		moved_put(search);
	return 0;
}

#endif
