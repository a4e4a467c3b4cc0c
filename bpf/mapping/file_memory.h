/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that the memory from which a rule was made shows the contents of the file.
 *
 * A rule serves all processes that map the file, but a process can write to its own copy of the
 * tables, or map other memory in their place. All reads for a rule are therefore noted and checked
 * before the rule is kept: they lie in mappings of the file, at the places that its program headers
 * name, the mappings were never written to, and the mappings have not changed since the walk began.
 * After a read of foreign memory no rule is kept until the end of the walk, because the unwinder
 * goes on using what it has read of an image. After a read of memory that may have been written to,
 * no rule is kept for all processes, but the rule may serve this process alone (a breakpoint is
 * written, too).
 *
 * The kernel gives a mapping an anon_vma when the mapping is to hold its first private page. A
 * write needs mprotect(), which changes mm_lock_seq, or a debugger. The order of the checks guards
 * against debuggers: the checks come after the reads.
 */
#ifndef BPF_FILE_MEMORY_H
#define BPF_FILE_MEMORY_H

#include "mapping.h"
#include "unwind/unwind.h"
#include "user_mapping.h"

#define FILE_READS_MAX 32    /* number of separate ranges of reads; a power of two */
#define FILE_READS_NEAR 4096 /* largest gap, in bytes, between reads of one range */
#define FILE_PARTS_MAX 4     /* most mappings of the file that one range of reads may cover */

struct file_reads {
	u32 is_noted;	/* 1: reads are noted, since a rule is made from them */
	u32 is_altered; /* 1: some of the memory that was read differs from the file, or may differ
			 */
	u32 is_written; /* 1: some of the memory read may have been written to */
	u32 count;
	u32 checked;
	u32 reserved;
	u64 at; /* the part of the current range that is not checked yet: from `at` to `end` */
	u64 end;
	struct mapping_key key; /* key of the file that the mapping under check maps */
	/*
	 * The last mapping that passed the check: while the mappings do not change, only a write
	 * can have changed its contents.
	 */
	u64 sure_vma;
	u64 sure_start;
	u64 sure_end; /* 0: no mapping has passed */
	u64 sure_image;
	struct {
		u64 start;
		u64 end;
	} range[FILE_READS_MAX];
};

/* Forgets the noted reads of the former walk, which may have been a walk of another process. */
static __always_inline void file_reads_reset(struct file_reads *reads)
{
	reads->is_noted = 0;
	reads->is_altered = 0;
	reads->is_written = 0;
	reads->count = 0;
	reads->checked = 0;
	reads->sure_end = 0;
}

/*
 * Notes a read. A read near the latest range extends this range; any other read begins a new range.
 * If no range is free, the read extends the latest range over all bytes in between.
 */
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

/* Notes a read while is_noted is set. */
__noinline int file_reads_note_if_enabled(struct file_reads *reads, u64 start, u32 bytes)
{
	if (reads && reads->is_noted)
		file_reads_add(reads, start, bytes);
	return 0;
}

static __always_inline bool is_same_file_key(const struct mapping_key *a,
					     const struct mapping_key *b)
{
	return a->kind == b->kind && a->device == b->device && a->inode == b->inode &&
	       a->since == b->since && a->generation == b->generation;
}

/*
 * True if search->entry maps the file of search->vma and is not writable. Sets is_written if the
 * mapping may hold private pages.
 */
static __always_inline bool maps_file_unchanged(struct file_reads *reads,
						const struct vma_search *search)
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
	mapping_key_from_inode(&reads->key, BPF_CORE_READ(file, f_inode));
	return is_same_file_key(&reads->key, &search->record.key);
}

struct file_check {
	struct file_reads *reads;
	struct vma_search *search;
	const struct unwind_image *image;
};

static __always_inline bool knows_mapping_changes(const struct vma_search *search)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;

	return bpf_core_field_exists(mm->mm_lock_seq);
}

static __always_inline void note_checked_mapping(struct file_reads *reads,
						 const struct vma_search *search)
{
	if (!knows_mapping_changes(search) || reads->is_altered || reads->is_written)
		return;
	reads->sure_vma = search->entry.vma;
	reads->sure_start = search->entry.start;
	reads->sure_end = search->entry.end;
	reads->sure_image = search->vma.image;
}

static __always_inline bool is_in_checked_mapping(const struct file_reads *reads,
						  const struct vma_search *search)
{
	struct vm_area_struct *vma = (void *)reads->sure_vma;

	return reads->at >= reads->sure_start && reads->end <= reads->sure_end &&
	       search->vma.image == reads->sure_image && !BPF_CORE_READ(vma, anon_vma);
}

/* Checks one mapping of a range of reads. */
static long check_mapping_of_noted_reads(u32 i, struct file_check *check)
{
	struct vma_search *search = check->search;
	const struct vma_entry *entry = &search->entry;
	u64 offset;

	if (check->reads->at >= check->reads->end)
		return 1;
	if (!vma_find(search, check->reads->at) || !maps_file_unchanged(check->reads, search) ||
	    i == FILE_PARTS_MAX) {
		check->reads->is_altered = 1;
		return 1;
	}
	offset = check->reads->at - entry->start + (entry->file ? entry_file_offset(entry) : 0);
	if (offset != image_file_offset(check->image, search->vma.image, check->reads->at))
		check->reads->is_altered = 1;
	note_checked_mapping(check->reads, search);
	check->reads->at = entry->end;
	return 0;
}

static long check_range_of_noted_reads(u32 i, struct file_check *check)
{
	struct file_reads *reads = check->reads;
	struct vma_search *search = check->search;

	if (reads->checked >= reads->count || reads->is_altered)
		return 1;
	check->reads->at = reads->range[reads->checked & (FILE_READS_MAX - 1)].start;
	check->reads->end = reads->range[reads->checked & (FILE_READS_MAX - 1)].end;
	reads->checked++;
	if (is_in_checked_mapping(reads, search))
		return 0;
	core_rare_loop(FILE_PARTS_MAX + 1, check_mapping_of_noted_reads, check);
	return 0;
}

static __always_inline bool have_mappings_changed(const struct vma_search *search)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;

	return knows_mapping_changes(search) &&
	       BPF_CORE_READ(mm, mm_lock_seq.sequence) + 2 * moved_generation !=
		       search->vma.space.sequence;
}

/* True if all noted reads were of the file of search->vma. */
static __always_inline bool were_all_noted_reads_of_file(struct file_reads *reads,
							 struct vma_search *search,
							 const struct unwind_image *image)
{
	struct file_check check = {.reads = reads, .search = search, .image = image};

	core_rare_loop(FILE_READS_MAX, check_range_of_noted_reads, &check);
	if (have_mappings_changed(search))
		reads->is_altered = 1;
	return !reads->is_altered;
}

/*
 * Decides whether a walk may wait for a page of the current task that is not in memory.
 *
 * A program that sleeps does so within RCU tasks trace; until it wakes up, the whole machine can
 * free no BPF program and close no perf event with one. A walk therefore waits for disks, but not
 * for memory that depends on other parties: the server of a file system, which may be any user's
 * process; userfaultfd; and mmap_lock, under which another thread may wait for a server. The
 * decision holds for the memory as it is now: a process that changes its memory before the fault
 * can still make the fault wait.
 */

#define S_IFMT 0170000
#define S_IFREG 0100000
#define PAGE_BITS 12	      /* Pages have at least 2^PAGE_BITS bytes. */
#define WAIT_LOOKS_MAX 8      /* most tries while another thread changes the mappings */
#define LOCK_BLOCKS_READERS 3 /* bits of rwsem.count: held by a writer, or with waiters */
#define NAME_VIRTIOFS 0x73666f6974726976ULL /* "virtiofs" */

/* True for virtiofs: a FUSE file system that the hypervisor answers for. */
static __always_inline bool is_virtiofs(struct super_block *mounted)
{
	u64 name = 0;

	bpf_probe_read_kernel(&name, sizeof(name), BPF_CORE_READ(mounted, s_type, name));
	return name == NAME_VIRTIOFS;
}

/*
 * True if a user's process or a server answers for a file system. A file system that is mounted in
 * a user namespace is in the hands of the namespace's owner.
 */
static __always_inline bool is_file_system_served_by_user(struct super_block *mounted)
{
	return BPF_CORE_READ(mounted, s_user_ns, level) ||
	       (is_file_system_of_other_user(BPF_CORE_READ(mounted, s_magic)) &&
		!is_virtiofs(mounted));
}

static __always_inline bool has_userfaultfd(struct vm_area_struct *vma)
{
	return bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) &&
	       BPF_CORE_READ(vma, vm_userfaultfd_ctx.ctx);
}

/* True if nobody but the kernel can delay a read of the file's pages. False for devices, and for
 * files of file systems that a user's process serves (FUSE) or that are mounted in a user
 * namespace. Memory without a file: true. */
static __always_inline bool is_file_served_by_kernel_alone(struct inode *inode)
{
	return !inode || ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG &&
			  !is_file_system_served_by_user(BPF_CORE_READ(inode, i_sb)));
}

/*
 * True if a reader of mmap_lock would block (kernel/locking/rwsem.c; with PREEMPT_RT rwbase_rt.c:
 * there the count is negative while readers may enter).
 */
static __always_inline bool mmap_lock_blocks_readers(const struct vma_search *search)
{
	struct mm_struct *mm = (void *)search->vma.space.mm;
	struct mm_struct___rt *rt = (void *)mm;

	if (bpf_core_field_exists(rt->mmap_lock.rwbase))
		return BPF_CORE_READ(rt, mmap_lock.rwbase.readers.counter) >= 0;
	return bpf_core_field_exists(mm->mmap_lock.count) &&
	       BPF_CORE_READ(mm, mmap_lock.count.counter) & LOCK_BLOCKS_READERS;
}

/*
 * Returns 1 if a walk may wait for the page at an address, 0 if it may not; -EAGAIN: the mapping,
 * or a neighbour, is being changed.
 */
__noinline int check_wait_for_page(struct vma_search *search, u64 address)
{
	bool is_mapping, may_wait;

	if (!search)
		return 0;
	if (mmap_lock_blocks_readers(search))
		return -EAGAIN;
	is_mapping = vma_find(search, address);
	if (!search->entry.vma)
		return 0;
	may_wait = !has_userfaultfd((void *)search->entry.vma) &&
		   is_file_served_by_kernel_alone(inode_of(&search->entry));
	return is_mapping && is_mapped_still(search) ? may_wait : -EAGAIN;
}

static __always_inline bool may_wait_for_page(struct vma_search *search, u64 address)
{
	int answer = -EAGAIN;
	u32 look;

	for (look = 0; look < WAIT_LOOKS_MAX && answer == -EAGAIN; look++)
		answer = check_wait_for_page(search, address);
	return answer == 1;
}

/*
 * True if the pages of the first and of the last byte of a read may be waited for. Overwrites
 * search->entry.
 */
__noinline int may_wait_for_pages_of_read(struct vma_search *search, u64 first, u64 last)
{
	return search && may_wait_for_page(search, first) &&
	       (first >> PAGE_BITS == last >> PAGE_BITS || may_wait_for_page(search, last));
}

#endif
