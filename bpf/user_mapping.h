/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a user address to a position-independent frame: (mapping number, file offset).
 *
 * A file gets its number when the first program meets it: a fresh record is filled, then its key is
 * inserted if it is still absent; who loses that race takes the winner's number, and its own record
 * stays unused. User space reads the records and finds build ids.
 */
#ifndef BPF_USER_MAPPING_H
#define BPF_USER_MAPPING_H

#include <errno.h>

#include "engine_maps.h"
#include "env.h"
#include "vma.h"

#define PATH_COMPONENTS_MAX 40
#define PATH_COMPONENT_BYTES 256

struct path_walk {
	struct vma_search *search;
	struct dentry *dentry;
	struct vfsmount *mount;
};

/* One step from the file towards the root: crosses a mount point, or writes one component. */
static long path_step(u32 index, struct path_walk *walk)
{
	struct mapping_record *record = &walk->search->record;
	struct vfsmount *vfsmount = walk->mount;
	struct dentry *dentry = walk->dentry;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	u32 used = record->path_bytes;
	long length;

	if (dentry == BPF_CORE_READ(vfsmount, mnt_root)) {
		struct mount *mount = (void *)vfsmount - bpf_core_field_offset(struct mount, mnt);
		struct mount *above = BPF_CORE_READ(mount, mnt_parent);

		if (above == mount || !above) {
			record->path_whole = 1;
			return 1;
		}
		walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		walk->mount = (void *)above + bpf_core_field_offset(struct mount, mnt);
		return 0;
	}
	if (parent == dentry) { /* not under any mount: memfd, deleted namespace */
		record->path_whole = 1;
		return 1;
	}
	if (used >= MAPPING_PATH_BYTES)
		return 1;
	length = bpf_probe_read_kernel_str(record->path + used, PATH_COMPONENT_BYTES,
					   BPF_CORE_READ(dentry, d_name.name));
	if (length <= 0 || used + length > MAPPING_PATH_BYTES)
		return 1;
	record->path_bytes = used + length;
	walk->dentry = parent;
	return 0;
}

static __always_inline void path_read(struct vma_search *search, struct file *file)
{
	struct path_walk walk = {
		.search = search,
		.dentry = BPF_CORE_READ(file, f_path.dentry),
		.mount = BPF_CORE_READ(file, f_path.mnt),
	};

	search->record.path_bytes = 0;
	search->record.path_whole = 0;
	bpf_loop(PATH_COMPONENTS_MAX, path_step, &walk, 0);
}

/* Fills search->record.key with what the vma maps; false: no code to name. */
static __always_inline bool mapping_identify(struct vma_search *search, struct mm_struct *mm,
					     struct vm_area_struct *vma, u64 address)
{
	struct mapping_key *key = &search->record.key;
	struct file *file = BPF_CORE_READ(vma, vm_file);
	u64 start = BPF_CORE_READ(vma, vm_start);

	if (!(BPF_CORE_READ(vma, vm_flags) & VM_EXEC))
		return false;
	*key = (struct mapping_key){};
	search->vma.start = start;
	search->vma.end = BPF_CORE_READ(vma, vm_end);
	if (file) {
		struct inode *inode = BPF_CORE_READ(file, f_inode);

		key->kind = MAPPING_FILE;
		key->device = BPF_CORE_READ(inode, i_sb, s_dev);
		key->inode = BPF_CORE_READ(inode, i_ino);
		key->generation = BPF_CORE_READ(inode, i_generation);
		search->vma.file_offset = BPF_CORE_READ(vma, vm_pgoff) << 12;
	} else if (start == (u64)BPF_CORE_READ(mm, context.vdso)) {
		key->kind = MAPPING_VDSO;
		search->vma.file_offset = 0;
	} else {
		u64 top = address >> FRAME_OFFSET_BITS;

		key->kind = MAPPING_ANON;
		key->inode = (bpf_get_current_pid_tgid() >> 32) << 24 | top;
		search->vma.file_offset = start & FRAME_OFFSET_MASK;
		/* A number stands for one value of the upper address bits. */
		if (search->vma.end >> FRAME_OFFSET_BITS != top)
			search->vma.end = (top + 1) << FRAME_OFFSET_BITS;
		if (start >> FRAME_OFFSET_BITS != top) {
			search->vma.start = top << FRAME_OFFSET_BITS;
			search->vma.file_offset = 0;
		}
	}
	search->vma.kind = key->kind;
	return true;
}

/* A new number for search->record.key, or the one that another program has just given it; 0: none
 * left. */
static __always_inline u32 mapping_add(struct vma_search *search, const struct mapping_key *key,
				       struct vm_area_struct *vma)
{
	struct engine_state *engine = engine_current();
	struct mapping_record *record;
	u32 number, *winner;

	if (!engine || atomic_load_relaxed(&engine->mapping_last) >= MAPPINGS_MAX - 1)
		return 0;
	number = atomic_fetch_add_acq_rel(&engine->mapping_last, 1) + 1;
	record = bpf_map_lookup_elem(&mappings, &number);
	if (!record)
		return 0;
	search->record.tgid = bpf_get_current_pid_tgid() >> 32;
	search->record.start = search->vma.start;
	search->record.end = search->vma.end;
	search->record.offset = search->vma.file_offset;
	search->record.path_bytes = 0;
	if (search->record.key.kind == MAPPING_FILE)
		path_read(search, BPF_CORE_READ(vma, vm_file));
	bpf_probe_read_kernel(record, sizeof(*record), &search->record);
	if (!bpf_map_update_elem(&mapping_numbers, key, &number, BPF_NOEXIST))
		return number;
	winner = bpf_map_lookup_elem(&mapping_numbers, key);
	return winner ? *winner : 0;
}

/*
 * Makes search->vma describe the mapping of a user address. 0; -ENOENT: no code is mapped there;
 * -ENOSPC: no number is left or the table was busy, search->vma.number is MAPPING_UNKNOWN.
 */
__noinline int mapping_find(struct vma_search *search, u64 address)
{
	struct vm_area_struct *vma;
	struct mapping_key key; /* 6.1 takes a map's key from the stack, not from any memory */
	u32 *number;
	u64 mm;

	if (!search)
		return -EINVAL;
	mm = search->vma.space.mm;
	search->vma.end = 0;
	vma = (void *)vma_find(search, mm, address);
	if (!vma || !mapping_identify(search, (void *)mm, vma, address)) {
		search->vma.end = 0;
		return -ENOENT;
	}
	key = search->record.key;
	number = bpf_map_lookup_elem(&mapping_numbers, &key);
	search->vma.number = number ? *number : mapping_add(search, &key, vma);
	if (search->vma.number)
		return 0;
	search->vma.number = MAPPING_UNKNOWN;
	return -ENOSPC;
}

#endif
