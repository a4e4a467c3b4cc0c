/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether what a rule was made from is what the file says.
 *
 * A rule serves all processes that map the file, but a process can write to its own copy of the
 * tables, or map other things where they belong. So what is read for a rule is noted, and seen to
 * before the rule is kept: all of it lies in mappings of the file, from where its program headers
 * say, that were never written to, and nothing was mapped since the walk began. Once something else
 * was read no rule is kept to the end of the walk, because the unwinder goes on using what it has
 * read of an image. Nor for all, once something was read that may have been written to: but of such
 * a rule the process itself may have the use (a breakpoint is written, too).
 *
 * The kernel gives a mapping an anon_vma when it is to hold the first page of its own. Writing
 * needs mprotect(), which moves mm_lock_seq; or a debugger, against whom the order of the checks
 * helps: they come after the reads.
 */
#ifndef BPF_FILE_MEMORY_H
#define BPF_FILE_MEMORY_H

#include "unwind/unwind_image.h"
#include "user_mapping.h"

#define FILE_READS_MAX 32    /* apart from one another; a power of two */
#define FILE_READS_NEAR 4096 /* bytes between two that count as one */
#define FILE_PARTS_MAX 4     /* mappings that one range of reads lies in */

struct file_reads {
	u32 is_noted;	/* what is read becomes a rule */
	u32 is_altered; /* not all that was read is the file's */
	u32 is_written; /* not all of it is as the file has it */
	u32 count;
	u32 checked;
	u32 reserved;
	u64 at; /* what is checked: from here */
	u64 end;
	struct mapping_key key; /* of the file there */
	/* The last mapping that was the file's: while mappings stay as they are, only a write can
	 * have changed what it shows. */
	u64 sure_vma;
	u64 sure_start;
	u64 sure_end; /* 0: none */
	u64 sure_image;
	struct {
		u64 start;
		u64 end;
	} range[FILE_READS_MAX];
};

/* What is known is forgotten: another process may come. */
static __always_inline void file_reads_begin(struct file_reads *reads)
{
	reads->is_noted = 0;
	reads->is_altered = 0;
	reads->is_written = 0;
	reads->count = 0;
	reads->checked = 0;
	reads->sure_end = 0;
}

/* Notes a read: near the latest one, or apart from it, or, if there is no room, with all that lies
 * between the two. */
static __always_inline void file_reads_add(struct file_reads *reads, u64 start, u32 bytes)
{
	u64 end = start + bytes;
	u32 last = (reads->count - 1) & (FILE_READS_MAX - 1);

	if (reads->count - reads->checked >= FILE_READS_MAX ||
	    (reads->count && start + FILE_READS_NEAR >= reads->range[last].start &&
	     end <= reads->range[last].end + FILE_READS_NEAR)) {
		if (start < reads->range[last].start)
			reads->range[last].start = start;
		if (end > reads->range[last].end)
			reads->range[last].end = end;
		return;
	}
	last = reads->count & (FILE_READS_MAX - 1);
	core_one_register(last);
	reads->range[last & (FILE_READS_MAX - 1)].start = start;
	reads->range[last & (FILE_READS_MAX - 1)].end = end;
	reads->count++;
}

__noinline int file_reads_note(struct file_reads *reads, u64 start, u32 bytes)
{
	if (reads)
		file_reads_add(reads, start, bytes);
	return 0;
}

/* The same while reads are noted. */
__noinline int file_reads_follow(struct file_reads *reads, u64 start, u32 bytes)
{
	if (reads && reads->is_noted)
		file_reads_add(reads, start, bytes);
	return 0;
}

static __always_inline bool same_key(const struct mapping_key *a, const struct mapping_key *b)
{
	return a->kind == b->kind && a->device == b->device && a->inode == b->inode &&
	       a->since == b->since && a->generation == b->generation;
}

/* Whether search->entry is of the file of search->vma, and not to be written to. */
static __always_inline bool is_as_filed(struct file_reads *reads, const struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;
	struct vm_area_struct *vma = (void *)entry->vma;
	struct file *file = (void *)entry->file;

	if (entry->flags & VM_WRITE)
		return false;
	if (BPF_CORE_READ(vma, anon_vma))
		reads->is_written = 1;
	if (!file)
		return is_vdso(search, entry);
	inode_identify(&reads->key, BPF_CORE_READ(file, f_inode));
	return same_key(&reads->key, &search->record.key);
}

struct file_check {
	struct file_reads *reads;
	struct vma_search *search;
	const struct unwind_image *image;
};

static __always_inline bool counts_mappings(const struct vma_search *search)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;

	return bpf_core_field_exists(mm->mm_lock_seq);
}

static __always_inline void file_part_sure(struct file_reads *reads,
					   const struct vma_search *search)
{
	if (!counts_mappings(search) || reads->is_altered || reads->is_written)
		return;
	reads->sure_vma = search->entry.vma;
	reads->sure_start = search->entry.start;
	reads->sure_end = search->entry.end;
	reads->sure_image = search->vma.image;
}

static __always_inline bool is_sure(const struct file_reads *reads, const struct vma_search *search)
{
	struct vm_area_struct *vma = (void *)reads->sure_vma;

	return reads->at >= reads->sure_start && reads->end <= reads->sure_end &&
	       search->vma.image == reads->sure_image && !BPF_CORE_READ(vma, anon_vma);
}

/* One mapping of a range. */
static long file_part_check(u32 i, struct file_check *check)
{
	struct vma_search *search = check->search;
	const struct vma_entry *entry = &search->entry;
	u64 offset;

	if (check->reads->at >= check->reads->end)
		return 1;
	if (!vma_find(search, check->reads->at) || !is_as_filed(check->reads, search) ||
	    i == FILE_PARTS_MAX) {
		check->reads->is_altered = 1;
		return 1;
	}
	offset = check->reads->at - entry->start + (entry->file ? entry->page_offset : 0);
	if (offset != image_file_offset(check->image, search->vma.image, check->reads->at))
		check->reads->is_altered = 1;
	file_part_sure(check->reads, search);
	check->reads->at = entry->end;
	return 0;
}

static long file_range_check(u32 i, struct file_check *check)
{
	struct file_reads *reads = check->reads;
	struct vma_search *search = check->search;

	if (reads->checked >= reads->count || reads->is_altered)
		return 1;
	check->reads->at = reads->range[reads->checked & (FILE_READS_MAX - 1)].start;
	check->reads->end = reads->range[reads->checked & (FILE_READS_MAX - 1)].end;
	reads->checked++;
	if (is_sure(reads, search))
		return 0;
	bpf_loop(FILE_PARTS_MAX + 1, file_part_check, check, 0);
	return 0;
}

static __always_inline bool is_mapped_anew(const struct vma_search *search)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;

	return counts_mappings(search) &&
	       BPF_CORE_READ(mm, mm_lock_seq.sequence) + 2 * moved_generation !=
		       search->vma.space.sequence;
}

/* Whether all that was noted is the file's, which search->vma is of. */
static __always_inline bool file_reads_hold(struct file_reads *reads, struct vma_search *search,
					    const struct unwind_image *image)
{
	struct file_check check = {.reads = reads, .search = search, .image = image};

	bpf_loop(FILE_READS_MAX, file_range_check, &check, 0);
	if (is_mapped_anew(search))
		reads->is_altered = 1;
	return !reads->is_altered;
}

#endif
