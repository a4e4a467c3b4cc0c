/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Has user space compare an anonymous mapping with the file beside it (abi/moved_code.h). Programs
 * move what lies between two pages, so the rest of the code's segment, or the segment before or
 * behind it, is still a mapping of the file. Memory of compilers at run time mostly lies beside no
 * file.
 *
 * It takes more of the stack than is left where mappings are met: it is done after a walk.
 */
#ifndef BPF_MOVED_WANT_H
#define BPF_MOVED_WANT_H

#include "user_mapping.h"

/* Makes search->record.key that of the file which is mapped at an address, if one is. */
static __always_inline bool is_file_at(struct vma_search *search, u64 address)
{
	return !mapping_lookup(search, address) && search->record.key.kind == MAPPING_FILE;
}

/* Whether the mapping search->entry was met before; its key and what is known of it are noted. */
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

/* 6.1 takes key and value from the stack only. */
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

/* Notes the mapping search->entry, which has no file, for a comparison with the file beside it. The
 * function is global, so the verifier looks at it once. */
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
