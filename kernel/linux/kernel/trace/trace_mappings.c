// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Numbers of the mappings that user frames lie in.
 *
 * A user frame is stored as the number of a file and an offset in the file, so
 * that it is the same in all processes, wherever they map the file. The path is
 * kept from the first time that the file is seen, so that the frame can be
 * symbolized after the process has exited.
 */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "stackmap/stack.h"
#include "trace_mappings.h"

void trace_mappings_init(struct trace_mappings *mappings)
{
	mutex_init(&mappings->lock);
	hash_init(mappings->by_key);
	xa_init(&mappings->by_number);
}

void trace_mappings_free(struct trace_mappings *mappings)
{
	struct trace_mapping *mapping;
	unsigned long number;

	xa_for_each(&mappings->by_number, number, mapping)
		kfree(mapping);
	xa_destroy(&mappings->by_number);
	mutex_destroy(&mappings->lock);
}

static u32 key_hash(const struct trace_mapping_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = vma->vm_ops && vma->vm_ops->name
				   ? vma->vm_ops->name(vma)
				   : NULL;

	return name && !strcmp(name, "[vdso]");
}

/*
 * The address space of a 32-bit task ends at 4 GB, and a 64-bit vdso is above.
 * The vdso of an x32 task counts as one of 32 bits.
 */
static bool is_32bit_vdso(struct vm_area_struct *vma)
{
	return (u64)vma->vm_end <= BIT_ULL(32);
}

static struct trace_mapping_key key_of_file(struct vm_area_struct *vma)
{
	struct inode *inode = file_inode(vma->vm_file);

	return (struct trace_mapping_key){
		.kind = TRACE_MAPPING_FILE,
		.device = inode->i_sb->s_dev,
		.inode = inode->i_ino,
		.generation = inode->i_generation,
		.mtime = (u64)inode_get_mtime_sec(inode) << 30 |
			 inode_get_mtime_nsec(inode),
	};
}

static struct trace_mapping_key key_of(struct vm_area_struct *vma,
				       const struct trace_process *process,
				       unsigned long address)
{
	if (vma->vm_file)
		return key_of_file(vma);
	if (is_vdso(vma))
		return (struct trace_mapping_key){
			.kind = TRACE_MAPPING_VDSO,
			.inode = is_32bit_vdso(vma),
		};
	return (struct trace_mapping_key){
		.kind = TRACE_MAPPING_ANON,
		.inode = (u64)process->tgid << 24 |
			 address >> STACKID_FRAME_OFFSET_BITS,
		.mtime = process->start,
	};
}

/* A mapping that was found stays valid: none is ever removed */
static struct trace_mapping *mapping_find(struct trace_mappings *mappings,
					  const struct trace_mapping_key *key)
{
	struct trace_mapping *mapping;

	guard(rcu)();
	hash_for_each_possible_rcu(mappings->by_key, mapping, node,
				   key_hash(key))
		if (!memcmp(&mapping->key, key, sizeof(*key)))
			return mapping;
	return NULL;
}

/*
 * The path from the root of the mount namespace, because the reader may have
 * another root than the task. d_path() marks an unlinked file as deleted. On
 * overlayfs it is the path that the program has opened, not that in a layer.
 */
static const char *path_of(struct vm_area_struct *vma, char *buffer)
{
	const struct path *opened;
	const char *path;

	if (is_vdso(vma))
		return is_32bit_vdso(vma) ? "[vdso32]" : "[vdso]";
	if (!vma->vm_file)
		return "[anon]";
	opened = file_user_path(vma->vm_file);
	path = d_absolute_path(opened, buffer, PATH_MAX);
	if (IS_ERR(path) || d_unlinked(opened->dentry))
		path = d_path(opened, buffer, PATH_MAX);
	return IS_ERR(path) ? "..." : path;
}

static struct trace_mapping *mapping_make(struct vm_area_struct *vma,
					  const struct trace_mapping_key *key)
{
	char *buffer __free(kfree) = kmalloc(PATH_MAX, GFP_KERNEL);
	struct trace_mapping *mapping;
	const char *path;
	size_t bytes;

	if (!buffer)
		return NULL;
	path = path_of(vma, buffer);
	bytes = strlen(path) + 1;
	mapping = kzalloc(struct_size(mapping, path, bytes), GFP_KERNEL);
	if (!mapping)
		return NULL;
	memcpy(mapping->path, path, bytes);
	mapping->key = *key;
	return mapping;
}

/* Return: the number, or 0 if there is no room */
static u32 mapping_add(struct trace_mappings *mappings,
		       struct trace_mapping *mapping)
{
	u32 number = mappings->count + 1;

	if (number >= TRACE_MAPPINGS_MAX ||
	    xa_err(xa_store(&mappings->by_number, number, mapping, GFP_KERNEL)))
		return 0;
	mapping->number = number;
	hash_add_rcu(mappings->by_key, &mapping->node, key_hash(&mapping->key));
	WRITE_ONCE(mappings->count, number);
	return number;
}

static u32 mapping_publish(struct trace_mappings *mappings,
			   struct trace_mapping *mapping)
{
	struct trace_mapping *other;
	u32 number;

	guard(mutex)(&mappings->lock);
	other = mapping_find(mappings, &mapping->key);
	number = other ? other->number : mapping_add(mappings, mapping);
	if (other || !number)
		kfree(mapping);
	return number;
}

static u32 mapping_number(struct trace_mappings *mappings,
			  struct vm_area_struct *vma,
			  const struct trace_mapping_key *key)
{
	struct trace_mapping *mapping = mapping_find(mappings, key);

	if (mapping)
		return mapping->number;
	if (READ_ONCE(mappings->count) + 1 >= TRACE_MAPPINGS_MAX)
		return 0;
	mapping = mapping_make(vma, key);
	return mapping ? mapping_publish(mappings, mapping) : 0;
}

static u64 offset_in(struct vm_area_struct *vma, unsigned long address)
{
	if (vma->vm_file)
		return address - vma->vm_start +
		       ((u64)vma->vm_pgoff << PAGE_SHIFT);
	return is_vdso(vma) ? address - vma->vm_start : address;
}

/**
 * trace_mappings_frame - The frame of a user address, by mapping and offset
 * @mappings: the numbers
 * @process: the process of the address
 * @mm: its mm; the caller holds the mmap lock
 * @address: the address
 *
 * May sleep.
 *
 * Return: the frame; TRACE_MAPPING_UNKNOWN and the lower address bits if there
 * is no mapping or no room for its number
 */
u64 trace_mappings_frame(struct trace_mappings *mappings,
			 const struct trace_process *process,
			 struct mm_struct *mm, unsigned long address)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);
	struct trace_mapping_key key;
	u32 number;

	if (!vma)
		return STACKID_FRAME_USER(TRACE_MAPPING_UNKNOWN, address);
	key = key_of(vma, process, address);
	number = mapping_number(mappings, vma, &key);
	if (number)
		return STACKID_FRAME_USER(number, offset_in(vma, address));
	return STACKID_FRAME_USER(TRACE_MAPPING_UNKNOWN, address);
}

/* Control characters in a path would end a line or control a terminal. */
static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f;
}

void trace_mappings_show_frame(struct seq_file *m,
			       struct trace_mappings *mappings, u64 frame)
{
	struct trace_mapping *mapping =
		xa_load(&mappings->by_number, STACKID_FRAME_MAPPING(frame));
	const char *name = mapping ? kbasename(mapping->path) : "[unknown]";

	for (; *name; name++)
		seq_putc(m, is_plain(*name) ? *name : '?');
	seq_printf(m, "+0x%llx", STACKID_FRAME_OFFSET(frame));
}
