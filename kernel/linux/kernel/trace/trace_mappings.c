// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What user frames lie in: a number for each file, with its path and build id as they were when
 * it was first met. So a frame is the same in all processes, wherever they have the file, and
 * can be named when they are gone.
 */

#include <linux/buildid.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jhash.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "trace_stackmap_internal.h"

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

static u32 key_hash(const struct mapping_key *key)
{
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0);
}

static bool is_vdso(struct vm_area_struct *vma)
{
	const char *name = vma->vm_ops && vma->vm_ops->name ? vma->vm_ops->name(vma) : NULL;

	return name && !strcmp(name, "[vdso]");
}

/*
 * By its place: the address space of a 32-bit task ends at 4 GB, and a vdso of 64 bits is above.
 * That of an x32 task counts as one of 32 bits.
 */
static bool is_vdso_of_32_bits(struct vm_area_struct *vma)
{
	return (u64)vma->vm_end <= BIT_ULL(32);
}

static struct mapping_key key_of_file(struct vm_area_struct *vma)
{
	struct inode *inode = file_inode(vma->vm_file);

	return (struct mapping_key){
		.kind = MAPPING_FILE,
		.device = inode->i_sb->s_dev,
		.inode = inode->i_ino,
		.generation = inode->i_generation,
		.since = FILE_WRITTEN(inode_get_mtime_sec(inode), inode_get_mtime_nsec(inode)),
	};
}

static struct mapping_key key_of(struct vm_area_struct *vma, const struct trace_process *process,
				 unsigned long address)
{
	if (vma->vm_file)
		return key_of_file(vma);
	if (is_vdso(vma))
		return (struct mapping_key){
			.kind = MAPPING_VDSO,
			.inode = is_vdso_of_32_bits(vma),
		};
	return (struct mapping_key){
		.kind = MAPPING_ANON,
		.inode = (u64)process->tgid << 24 | address >> FRAME_OFFSET_BITS,
		.since = process->since,
	};
}

static struct trace_mapping *mapping_find(struct trace_mappings *mappings,
					  const struct mapping_key *key)
{
	struct trace_mapping *mapping;

	hash_for_each_possible(mappings->by_key, mapping, node, key_hash(key))
		if (!memcmp(&mapping->key, key, sizeof(*key)))
			return mapping;
	return NULL;
}

/*
 * Below the root of the mounts that it is in: the caller may have another one than the task. A name
 * that is gone is marked, as another file may have it now; so is what is under no mount.
 */
static const char *path_of(struct vm_area_struct *vma, char *buffer)
{
	struct file *file = vma->vm_file;
	const char *path;

	if (is_vdso(vma))
		return is_vdso_of_32_bits(vma) ? "[vdso32]" : "[vdso]";
	if (!file)
		return "[anon]";
	path = d_absolute_path(&file->f_path, buffer, PATH_MAX);
	if (IS_ERR(path) || d_unlinked(file->f_path.dentry))
		path = file_path(file, buffer, PATH_MAX);
	return IS_ERR(path) ? "..." : path;
}

/* From what is in memory of the file: who serves it may keep a reader waiting for ever. */
static void build_id_read(struct trace_mapping *mapping, struct vm_area_struct *vma)
{
	if (!vma->vm_file ||
	    build_id_parse_nofault(vma, mapping->build_id, &mapping->build_id_bytes))
		mapping->build_id_bytes = 0;
}

/* A record without a number. */
static struct trace_mapping *mapping_make(struct vm_area_struct *vma,
					  const struct mapping_key *key)
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
	build_id_read(mapping, vma);
	return mapping;
}

/* Its number; 0: there is no room. */
static u32 mapping_add(struct trace_mappings *mappings, struct trace_mapping *mapping)
{
	u32 number = mappings->count + 1;

	if (number >= MAPPINGS_MAX ||
	    xa_err(xa_store(&mappings->by_number, number, mapping, GFP_KERNEL)))
		return 0;
	mapping->number = number;
	hash_add(mappings->by_key, &mapping->node, key_hash(&mapping->key));
	WRITE_ONCE(mappings->count, number);
	return number;
}

static u32 mapping_publish(struct trace_mappings *mappings, struct trace_mapping *mapping)
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

static u32 mapping_number(struct trace_mappings *mappings, struct vm_area_struct *vma,
			  const struct mapping_key *key)
{
	struct trace_mapping *mapping;

	scoped_guard(mutex, &mappings->lock) {
		mapping = mapping_find(mappings, key);
		if (mapping)
			return mapping->number;
		if (mappings->count + 1 >= MAPPINGS_MAX)
			return 0;
	}
	mapping = mapping_make(vma, key);
	return mapping ? mapping_publish(mappings, mapping) : 0;
}

static u64 offset_in(struct vm_area_struct *vma, unsigned long address)
{
	if (vma->vm_file)
		return address - vma->vm_start + ((u64)vma->vm_pgoff << PAGE_SHIFT);
	return is_vdso(vma) ? address - vma->vm_start : address;
}

u64 trace_mappings_frame(struct trace_mappings *mappings, const struct trace_process *process,
			 struct mm_struct *mm, unsigned long address)
{
	struct vm_area_struct *vma = vma_lookup(mm, address);
	struct mapping_key key;
	u32 number;

	if (!vma)
		return FRAME_USER(MAPPING_UNKNOWN, address);
	key = key_of(vma, process, address);
	number = mapping_number(mappings, vma, &key);
	if (number)
		return FRAME_USER(number, offset_in(vma, address));
	scoped_guard(mutex, &mappings->lock)
		WRITE_ONCE(mappings->refused, mappings->refused + 1);
	return FRAME_USER(MAPPING_UNKNOWN, address);
}

/* What somebody called a file: control characters would end lines, or be obeyed by a terminal. */
static bool is_plain(char c)
{
	return c >= ' ' && c < 0x7f;
}

void trace_mappings_show_frame(struct seq_file *seq, struct trace_mappings *mappings, u64 frame)
{
	struct trace_mapping *mapping = xa_load(&mappings->by_number, FRAME_MAPPING(frame));
	const char *name = mapping ? kbasename(mapping->path) : "[unknown]";

	for (; *name; name++)
		seq_putc(seq, is_plain(*name) ? *name : '?');
	seq_printf(seq, "+0x%llx", FRAME_OFFSET(frame));
}

static void path_show(struct seq_file *seq, const char *path)
{
	for (; *path; path++) {
		if (is_plain(*path) && *path != '\\')
			seq_putc(seq, *path);
		else
			seq_printf(seq, "\\%03o", (u8)*path);
	}
}

void trace_mappings_show(struct seq_file *seq, struct trace_mappings *mappings, u32 number)
{
	struct trace_mapping *mapping = xa_load(&mappings->by_number, number);

	if (!mapping)
		return;
	seq_printf(seq, "%u ", number);
	if (mapping->build_id_bytes)
		seq_printf(seq, "%*phN ", (int)mapping->build_id_bytes, mapping->build_id);
	else
		seq_puts(seq, "- ");
	path_show(seq, mapping->path);
	seq_putc(seq, '\n');
}
