/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The build id of a file, read from its mapping: files are deleted, and a running instance may be
 * read much later.
 *
 * A process can write to its own copy of the pages. The pages therefore count only if the process
 * has not written to them (file_memory.h), so that they equal the file's. If a page is missing now,
 * the read is tried again at later searches for the mapping, BUILD_ID_LOOKS_MAX times: a file with
 * a breakpoint has written pages wherever it is mapped, and user space reads the build id of such a
 * file.
 *
 * Reading needs more BPF stack than is left where mappings are met, in the middle of a walk, so it
 * is done after the walk.
 */
#ifndef BPF_BUILD_ID_H
#define BPF_BUILD_ID_H

#include "elf_build_id.h"
#include "user_mapping.h"
#include "vma_image.h"

/*
 * Requests that user space compare an anonymous mapping with the file beside it (abi/mapping.h).
 * Programs move memory between two pages, so the rest of the code's segment, or the segment before
 * or after it, is still a mapping of the file. Memory of just-in-time compilers mostly lies beside
 * no file.
 *
 * The request needs more BPF stack than is left where mappings are met, so it is made after a walk.
 */

/*
 * Sets search->record.key to the key of the file that is mapped at an address. False: no file is
 * mapped there.
 */
static __always_inline bool identify_file_at(struct vma_search *search, u64 address)
{
	return !mapping_lookup(search, address) && search->record.key.kind == MAPPING_FILE;
}

/* True if the mapping search->entry was met before. Sets search->moved_key and search->moved. */
__noinline int make_moved_code_key_and_record(struct vma_search *search)
{
	struct moved_key key;

	if (!search)
		return 1;
	key_of_moved_code(&key, search);
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

/* Inserts search->moved into the map. On 6.1 key and value must be on the BPF stack. */
__noinline int insert_moved_code_record(struct vma_search *search)
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
__noinline int record_possible_moved_code(struct vma_search *search)
{
	bool is_file;

	if (!search || !may_be_moved_code(&search->entry) || make_moved_code_key_and_record(search))
		return 0;
	search->wants_data = 1;
	is_file = identify_file_at(search, search->moved.start - 1) ||
		  identify_file_at(search, search->moved.end);
	search->wants_data = 0;
	if (!is_file)
		return 0;
	search->moved.number = mapping_number(search);
	if (!search->moved.number)
		search->moved.number = mapping_add(search, true);
	if (search->moved.number)
		insert_moved_code_record(search);
	return 0;
}

CORE_INLINE bool elf_read(u64 address, void *buffer, u32 bytes)
{
	return !bpf_probe_read_user(buffer, bytes, (const void *)address);
}

/*
 * True if the mapping search->entry, which has the first bytes of the file, shows the contents of
 * the file and no private changes.
 */
static __always_inline bool shows_file_contents(const struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;
	struct vm_area_struct *vma = (void *)entry->vma;

	return !(entry->flags & VM_WRITE) && !BPF_CORE_READ(vma, anon_vma) &&
	       (u64)inode_of(entry) == search->image.inode && is_mapped_still(search);
}

static __always_inline void build_id_store(struct mapping_record *record,
					   const struct elf_build_id *found)
{
	u32 i;

	for (i = 0; i < MAPPING_BUILD_ID_MAX; i++)
		record->build_id[i] = found->id[i];
	atomic_store_release(&record->build_id_bytes, found->id_bytes ?: MAPPING_NO_BUILD_ID);
}

/*
 * Reads the build id of the file whose first bytes search->entry maps. A global function: verified
 * by itself.
 */
__noinline int build_id_read(struct vma_search *search, struct mapping_record *record)
{
	struct elf_build_id found = {};

	if (!search || !record)
		return -EINVAL;
	found.image = search->entry.start;
	found.bytes = search->entry.end - search->entry.start;
	if (elf_build_id_find(&found) < 0 || !shows_file_contents(search))
		return -EAGAIN;
	build_id_store(record, &found);
	return 0;
}

static __always_inline int build_id_read_from_image(struct vma_search *search,
						    struct mapping_record *record)
{
	if (image_lookup(search) || !search->vma.image)
		return -EAGAIN;
	if (!vma_find(search, search->vma.image) || (search->entry.file && search->entry.page))
		return -EAGAIN;
	return build_id_read(search, record);
}

/*
 * Reads the build id of the file that is mapped at an address. A mapping without a file is noted
 * for a comparison with the file beside it instead (record_possible_moved_code()). -EAGAIN: no
 * build id can be read.
 */
__noinline int build_id_lookup(struct vma_search *search, u64 address)
{
	struct mapping_record *record;
	u32 number;
	int error;

	if (!search || mapping_lookup(search, address))
		return -EAGAIN;
	search->vma.kind = search->record.key.kind;
	if (search->vma.kind == MAPPING_ANON)
		return record_possible_moved_code(search);
	number = mapping_number(search);
	record = bpf_map_lookup_elem(&mappings, &number);
	if (!record || record->build_id_bytes)
		return -EAGAIN;
	error = build_id_read_from_image(search, record);
	if (error)
		record->build_id_looks++;
	return error;
}

static long read_noted_build_id(u32 i, struct vma_search **context)
{
	struct vma_search *search = *context;

	if (i >= search->unread_count)
		return 1;
	build_id_lookup(search, search->unread[i & (BUILD_IDS_UNREAD_MAX - 1)]);
	return 0;
}

/*
 * After a walk: reads the build ids of the mappings that the walk has noted, and notes mappings
 * without a file for a comparison (build_id_lookup()).
 */
static __always_inline void read_noted_build_ids(struct vma_search *search)
{
	if (!search->unread_count)
		return;
	core_rare_loop(BUILD_IDS_UNREAD_MAX, read_noted_build_id, &search);
	search->unread_count = 0;
	search->vma.start = search->vma.end = 0;
}

#endif
