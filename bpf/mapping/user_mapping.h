/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Translates a user address to a position-independent frame: (mapping number, file offset).
 *
 * A file gets its number when the first program meets it: the program fills a fresh record, then
 * inserts the key if it is still absent. A program that loses this race takes the winner's number,
 * and its own record stays unused. The build id is read after the walk that met the file
 * (build_id.h).
 */
#ifndef BPF_USER_MAPPING_H
#define BPF_USER_MAPPING_H

#include <linux/errno.h>

#include <bpf/bpf_helpers.h>

#include "env.h"
#include "kernel/user_probe.h"
#include "kernel/vma.h"
#include "mapping.h"
#include "state/engine_maps.h"
#include "state/instance.h"

static __always_inline u64 entry_file_offset(const struct vma_entry *entry)
{
	return entry->page << MEMORY_PAGE_BITS;
}

/*
 * Sends the number of each mapping whose code this instance meets for the first time to the
 * recorder, and wakes the recorder: the file of the mapping can be opened as long as the program
 * lives, which may be some milliseconds. Programs wake a reader only for this; the kernel wakes the
 * reader after the interrupt. If the buffer has no room, user space learns of the mapping from its
 * first event.
 */

#ifdef INSTANCE_HAS_NO_RECORDER

static __always_inline void new_code_report(u32 number)
{
	(void)number;
}

#else

/* Tells user space the numbers of new mappings, as u32; the buffer has room for 256. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} new_code SEC(".maps");

/* a bit for each mapping number: 1 if the number was sent to user space */
unsigned long long code_met[MAPPINGS_MAX / 64];

/*
 * Sends a mapping number to user space, once for each number. Not inlined: the number must be on a
 * BPF stack that has room.
 */
__noinline int new_code_report(u32 number)
{
	unsigned long long bit = 1ULL << (number & 63), *word;
	u32 index = number / 64;

	core_one_register(index);
	word = &code_met[index & (MAPPINGS_MAX / 64 - 1)];
	if (atomic_load_relaxed(word) & bit)
		return 0;
	__sync_fetch_and_or(word, bit);
	return bpf_ringbuf_output(&new_code, &number, sizeof(number), BPF_RB_FORCE_WAKEUP);
}

#endif

/*
 * Anonymous mappings that hold code of a file (abi/mapping.h): looked up where a mapping without
 * a file is met.
 */

/* User space adds 1 when a mapping has become MOVED_FILE: this makes all cached mappings void. */
unsigned int moved_generation;

/* True if the mapping may be code that was copied from a file. Shared memory is left out, since
 * other processes may write to it after the comparison with the file. */
static __always_inline bool may_be_moved_code(const struct vma_entry *entry)
{
	return !(entry->flags & VM_SHARED);
}

/* Sets *key to the key of the mapping search->entry. */
static __always_inline void key_of_moved_code(struct moved_key *key,
					      const struct vma_search *search)
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
__noinline u32 resolve_moved_code_to_file(struct vma_search *search)
{
	const struct moved_code *moved;
	struct moved_key key;
	u64 offset, image;
	u32 number;

	if (!search || search->vma.kind != MAPPING_ANON)
		return 0;
	key_of_moved_code(&key, search);
	moved = bpf_map_lookup_elem(&moved_code, &key);
	if (!moved || moved->state != MOVED_FILE || !may_be_moved_code(&search->entry))
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

#define LOOKS_MAX 64
#define BUILD_ID_LOOKS_MAX 256
#define NAMESPACES_MAX 33 /* the kernel's limit of nested user namespaces */
#define PATH_COMPONENTS_MAX 40
#define PATH_COMPONENT_BYTES 256

/*
 * Appends one component of a path to the record. False: the record has no room. The bound is
 * checked where it is used: 6.1 forgets the bound of a number that was on the BPF stack.
 */
static __always_inline bool path_append(struct mapping_record *record, struct dentry *dentry)
{
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	u32 used = record->path_bytes;
	long length;

	core_one_register(used);
	if (used >= MAPPING_PATH_BYTES)
		return false;
	length = bpf_probe_read_kernel_str(record->path + used, PATH_COMPONENT_BYTES, name);
	used = record->path_bytes;
	if (length <= 0 || used + length > MAPPING_PATH_BYTES)
		return false;
	record->path_bytes = used + length;
	return true;
}

/* Crosses from the root of a mount to its mount point. False: the mount has none. */
static __always_inline bool path_continue_at_mount_point(struct vma_search *search)
{
	struct mount *mount = (void *)search->path.mount - bpf_core_field_offset(struct mount, mnt);
	struct mount *above = BPF_CORE_READ(mount, mnt_parent);

	if (above == mount || !above)
		return false;
	search->path.dentry = (u64)BPF_CORE_READ(mount, mnt_mountpoint);
	search->path.mount = (u64)above + bpf_core_field_offset(struct mount, mnt);
	return true;
}

/*
 * Takes one step of a path, from the file towards the root. A file under no mount (memfd, a deleted
 * namespace) is its own parent.
 */
static long path_read_component(u32 index, struct vma_search **context)
{
	struct vma_search *search = *context;
	struct vfsmount *mount = (void *)search->path.mount;
	struct dentry *dentry = (void *)search->path.dentry;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);

	if (dentry == BPF_CORE_READ(mount, mnt_root)) {
		search->record.path_whole = !path_continue_at_mount_point(search);
		return search->record.path_whole;
	}
	if (parent == dentry) {
		/* A memfd is in no folder; its path is its name. */
		search->record.path_whole =
			search->record.path_bytes || path_append(&search->record, dentry);
		return 1;
	}
	search->path.dentry = (u64)parent;
	return !path_append(&search->record, dentry);
}

static __always_inline void path_read(struct vma_search *search, struct file *file)
{
	BPF_CORE_READ_INTO(&search->path.dentry, file, f_path.dentry);
	BPF_CORE_READ_INTO(&search->path.mount, file, f_path.mnt);
	search->record.path_bytes = 0;
	search->record.path_whole = 0;
	core_rare_loop(PATH_COMPONENTS_MAX, path_read_component, &search);
}

/* The modification time of a file. The kernel's field for it has changed twice. */
static __always_inline u64 file_modification_time(struct inode *inode)
{
	struct inode___split_mtime *split = (void *)inode;
	struct inode___hidden_mtime *hidden = (void *)inode;
	struct inode___mtime *plain = (void *)inode;

	if (bpf_core_field_exists(split->i_mtime_sec))
		return FILE_WRITTEN(BPF_CORE_READ(split, i_mtime_sec),
				    BPF_CORE_READ(split, i_mtime_nsec));
	if (bpf_core_field_exists(hidden->__i_mtime))
		return FILE_WRITTEN(BPF_CORE_READ(hidden, __i_mtime.tv_sec),
				    BPF_CORE_READ(hidden, __i_mtime.tv_nsec));
	return FILE_WRITTEN(BPF_CORE_READ(plain, i_mtime.tv_sec),
			    BPF_CORE_READ(plain, i_mtime.tv_nsec));
}

/*
 * Sets *key to the key of a file. The fields are set one by one, because a whole key would first be
 * built on the BPF stack.
 */
static __always_inline void mapping_key_from_inode(struct mapping_key *key, struct inode *inode)
{
	key->kind = MAPPING_FILE;
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->generation = BPF_CORE_READ(inode, i_generation);
	key->since = file_modification_time(inode);
}

static __always_inline struct inode *inode_of(const struct vma_entry *entry)
{
	struct file *file = (void *)entry->file;

	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

/*
 * True for a file that only serves as shared memory. Files of large pages hold contents of their
 * process, and so does anonymous memory of large pages, which is such a file. Runtimes that avoid
 * memory which is writable and executable at once map it twice, shared, from a file without a name
 * (a memfd, a removed file). Programs and libraries are never mapped shared.
 */
static __always_inline bool is_shared_memory(const struct vma_entry *entry, struct inode *inode)
{
	return entry->flags & VM_SHARED && !BPF_CORE_READ(inode, i_nlink);
}

static __always_inline bool is_vdso(const struct vma_search *search, const struct vma_entry *entry)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;

	return !entry->file && entry->start == (u64)BPF_CORE_READ(mm, context.vdso);
}

/* True for the probe area, which each process with a probe has: its code is not the program's. */
static __always_inline bool is_probe_mapping(const struct vma_search *search,
					     const struct vma_entry *entry)
{
	return !entry->file &&
	       is_probe_area((struct mm_struct *)search->vma.space.mm, entry->start);
}

/*
 * Limits search->vma to the part of anonymous code that one mapping number can stand for:
 * addresses with equal upper bits.
 */
static __always_inline void limit_anonymous_range(struct known_vma *vma,
						  const struct vma_entry *entry, u64 top)
{
	vma->file_offset = entry->start & FRAME_OFFSET_MASK;
	if (entry->end >> FRAME_OFFSET_BITS != top)
		vma->end = (top + 1) << FRAME_OFFSET_BITS;
	if (entry->start >> FRAME_OFFSET_BITS != top) {
		vma->start = top << FRAME_OFFSET_BITS;
		vma->file_offset = 0;
	}
}

/*
 * Sets search->vma and search->record.key from the mapping search->entry of an address. False: the
 * mapping is not executable (and data is not wanted), or is the kernel's memory for probes.
 */
static __always_inline bool mapping_identify(struct vma_search *search, u64 address)
{
	const struct vma_entry *entry = &search->entry;
	struct mapping_key *key = &search->record.key;
	struct inode *inode = inode_of(entry);
	struct known_vma *vma = &search->vma;
	u64 top = address >> FRAME_OFFSET_BITS;

	if (!(entry->flags & VM_EXEC) && !search->wants_data)
		return false;
	if (inode && (is_shared_memory(entry, inode) || entry->flags & VM_HUGETLB))
		inode = NULL;
	vma->start = entry->start;
	vma->end = entry->end;
	vma->file_offset = entry_file_offset(entry);
	if (inode) {
		mapping_key_from_inode(key, inode);
	} else if (is_vdso(search, entry)) {
		*key = (struct mapping_key){.kind = MAPPING_VDSO, .inode = entry->end >> 32 == 0};
		vma->file_offset = 0;
	} else if (is_probe_mapping(search, entry)) {
		return false;
	} else {
		*key = (struct mapping_key){.kind = MAPPING_ANON, .since = vma->space.process};
		key->inode = (u64)search->tgid << 24 | top;
		limit_anonymous_range(vma, entry, top);
	}
	return true;
}

/*
 * Lookup and assignment of numbers are functions of their own: on 6.1 a map's key must be on the
 * function's own BPF stack. Both return the number of search->record.key, or 0.
 */
__noinline u32 mapping_number(struct vma_search *search)
{
	struct mapping_key key;
	u32 *number;

	if (!search)
		return 0;
	key = search->record.key;
	number = bpf_map_lookup_elem(&mapping_numbers, &key);
	return number ? *number : 0;
}

/*
 * Publishes search->record under a new number, unless another program has just given it one. 0: no
 * number is left.
 */
__noinline u32 mapping_publish(struct vma_search *search)
{
	struct engine_state *engine = current_engine_state();
	struct mapping_record *record;
	struct mapping_key key;
	u32 number;

	if (!search || !engine ||
	    atomic_load_relaxed(&engine->mapping_last) >= MAPPING_SCRIPT_FIRST - 1)
		return 0;
	number = atomic_fetch_add_acq_rel(&engine->mapping_last, 1) + 1;
	record = bpf_map_lookup_elem(&mappings, &number);
	if (!record)
		return 0;
	bpf_probe_read_kernel(record, sizeof(*record), &search->record);
	key = search->record.key;
	if (!bpf_map_update_elem(&mapping_numbers, &key, &number, BPF_NOEXIST))
		return number;
	return mapping_number(search);
}

/*
 * One step from search->space, the user namespace of a mount, towards the initial user namespace
 * (level 0); stops at level 1.
 */
static long search_outer_user_namespace(u32 index, struct vma_search **context)
{
	struct vma_search *search = *context;
	struct user_namespace *space = (void *)search->space;

	if (BPF_CORE_READ(space, level) <= 1)
		return 1;
	search->space = (u64)BPF_CORE_READ(space, parent);
	return 0;
}

/*
 * Sets the owner of a file: the user who can decide how the file answers. A file system that is
 * mounted in a user namespace belongs to the creator of the outermost namespace around it below the
 * initial one, whatever the file system says about its files.
 */
static __always_inline void set_owner_of_file(struct vma_search *search, struct inode *inode)
{
	struct super_block *mounted = BPF_CORE_READ(inode, i_sb);
	struct mapping_record *record = &search->record;
	struct user_namespace *space;

	search->space = (u64)BPF_CORE_READ(mounted, s_user_ns);
	core_rare_loop(NAMESPACES_MAX, search_outer_user_namespace, &search);
	space = (void *)search->space;
	if (BPF_CORE_READ(space, level)) {
		record->owner = BPF_CORE_READ(space, owner.val);
		record->file_system = 0;
		return;
	}
	record->owner = BPF_CORE_READ(inode, i_uid.val);
	record->file_system = BPF_CORE_READ(mounted, s_magic);
}

/*
 * Gives a number to search->record.key, which belongs to search->entry. A global function: verified
 * by itself.
 */
__noinline u32 mapping_add(struct vma_search *search, u32 is_met)
{
	if (!search)
		return 0;
	search->record.is_met = is_met;
	search->record.tgid = search->tgid;
	search->record.start = search->vma.start;
	search->record.end = search->vma.end;
	search->record.offset = search->vma.file_offset;
	search->record.build_id_bytes = 0;
	search->record.build_id_looks = 0;
	search->record.path_bytes = 0;
	if (search->record.key.kind == MAPPING_FILE) {
		set_owner_of_file(search, inode_of(&search->entry));
		path_read(search, (void *)search->entry.file);
	}
	return mapping_publish(search);
}

/*
 * Replaces the process of a record by the first one that an event met: the process of the scan
 * (running_code.h) may be gone when names are read.
 */
static __always_inline void mapping_set_first_process(struct vma_search *search,
						      struct mapping_record *record)
{
	if (record->is_met || atomic_exchange_acq_rel(&record->is_met, 1))
		return;
	record->tgid = search->tgid;
	record->start = search->vma.start;
	record->end = search->vma.end;
	record->offset = search->vma.file_offset;
}

/* True if a mapping needs more work: its build id is not read yet, or it may hold code that was
 * copied from a file. */
static __always_inline bool needs_work_after_walk(const struct vma_search *search,
						  const struct mapping_record *record)
{
	if (search->record.key.kind == MAPPING_ANON)
		return search->vma.kind == MAPPING_ANON && may_be_moved_code(&search->entry);
	return !record->build_id_bytes && record->build_id_looks < BUILD_ID_LOOKS_MAX;
}

/* Notes a mapping for the work after the walk (build_id.h). */
static __always_inline void note_mapping_without_build_id(struct vma_search *search, u64 address)
{
	u32 number = search->vma.number, count = search->unread_count;
	struct mapping_record *record = bpf_map_lookup_elem(&mappings, &number);

	if (!record)
		return;
	mapping_set_first_process(search, record);
	if (!needs_work_after_walk(search, record))
		return;
	core_one_register(count);
	if (count >= BUILD_IDS_UNREAD_MAX)
		return;
	search->unread[count] = address;
	search->unread_count = count + 1;
}

/*
 * Sets search->vma to the mapping of the code at an address. -ENOENT: no mapping has code
 * at this address. -EAGAIN: another thread changes the mappings.
 */
__noinline int mapping_lookup(struct vma_search *search, u64 address)
{
	if (!search)
		return -EINVAL;
	if (!vma_find(search, address))
		return search->entry.vma ? -EAGAIN : -ENOENT;
	if (!mapping_identify(search, address))
		return -ENOENT;
	return is_mapped_still(search) ? 0 : -EAGAIN;
}

/*
 * True if `vma` contains an address. A known_vma without a mapping has start and end 0 and contains
 * no address, so one comparison suffices.
 */
static __always_inline bool vma_covers(const struct known_vma *vma, u64 address)
{
	return address - vma->start < vma->end - vma->start;
}

/* True if `vma`, found in an address space, is known to hold for an address in this one. There is
 * one comparison: the verifier follows both results of each. */
static __always_inline bool is_vma_valid_for(const struct known_vma *vma,
					     const struct address_space *space, u64 address)
{
	u64 distance = address - vma->start, last = vma->end - vma->start - 1;
	u64 difference = (distance | (last - distance)) >> 63;

	difference |= vma->space.mm ^ space->mm;
	difference |= vma->space.process ^ space->process;
	difference |= vma->space.execs ^ space->execs;
	difference |= vma->space.sequence ^ space->sequence;
	return !difference;
}

/*
 * Sets search->vma from the mappings found last. A change of the mappings makes all cached
 * mappings void at once, and the frames of a stack lie in few mappings.
 */
__noinline int mapping_find_in_recent(struct vma_search *search, u64 address)
{
	u32 i;

	if (!search || search->wants_entry)
		return -ENOENT;
	for (i = 0; i < RECENT_VMAS; i++) {
		const struct known_vma *vma = &search->recent[i];

		if (is_vma_valid_for(vma, &search->vma.space, address)) {
			search->recent_found = i;
			goto found;
		}
	}
	return -ENOENT;
found:
	i = core_reload(search->recent_found);
	core_one_register(i);
	if (i >= RECENT_VMAS)
		return -ENOENT;
	search->vma = search->recent[i];
	return 0;
}

static __always_inline void recent_mapping_add(struct vma_search *search)
{
	if (!(search->vma.space.sequence & 1))
		search->recent[search->recent_next++ & (RECENT_VMAS - 1)] = search->vma;
}

/*
 * Sets search->vma to the mapping of a user address. 0; -ENOENT: no code is mapped there; -EAGAIN:
 * the mapping is being changed; -ENOSPC: no number is left or the table was busy, and search->entry
 * is the mapping. After an error the number is MAPPING_UNKNOWN.
 */
__noinline int mapping_find(struct vma_search *search, u64 address)
{
	int error = -EAGAIN;
	u32 look;

	if (!search)
		return -EINVAL;
	if (!mapping_find_in_recent(search, address))
		return 0;
	search->walks++;
	for (look = 0; look < LOOKS_MAX && error == -EAGAIN; look++)
		error = mapping_lookup(search, address);
	search->vma.kind = search->record.key.kind;
	search->vma.has_image = 0;
	if (!error) {
		search->vma.number = resolve_moved_code_to_file(search);
		if (!search->vma.number)
			search->vma.number = mapping_number(search);
		if (!search->vma.number)
			search->vma.number = mapping_add(search, true);
		error = search->vma.number ? 0 : -ENOSPC;
		if (!error)
			new_code_report(search->vma.number);
		note_mapping_without_build_id(search, address);
	}
	if (error) {
		search->vma.number = MAPPING_UNKNOWN;
		search->vma.start = search->vma.end = 0;
	} else {
		recent_mapping_add(search);
	}
	return error;
}

#endif
