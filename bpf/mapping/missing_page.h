/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
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
#ifndef BPF_MISSING_PAGE_H
#define BPF_MISSING_PAGE_H

#include "mapping.h"
#include "user_mapping.h"

#define S_IFMT 0170000
#define S_IFREG 0100000
#define PAGE_BITS 12	      /* pages may be larger */
#define WAIT_LOOKS_MAX 8      /* tries while the memory is being changed */
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
 * True if other parties answer for a file system. Any file system that is mounted in a user
 * namespace is in its owner's hands.
 */
static __always_inline bool is_of_others(struct super_block *mounted)
{
	return BPF_CORE_READ(mounted, s_user_ns, level) ||
	       (file_system_is_of_others(BPF_CORE_READ(mounted, s_magic)) && !is_virtiofs(mounted));
}

static __always_inline bool has_userfaultfd(struct vm_area_struct *vma)
{
	return bpf_core_field_exists(vma->vm_userfaultfd_ctx.ctx) &&
	       BPF_CORE_READ(vma, vm_userfaultfd_ctx.ctx);
}

/* True if only the kernel answers for a file: other parties may answer for a device, too. */
static __always_inline bool file_is_answered(struct inode *inode)
{
	return !inode || ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFREG &&
			  !is_of_others(BPF_CORE_READ(inode, i_sb)));
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
 * 1: the page may be waited for; 0: it may not; -EAGAIN: the mapping, or a neighbour, is being
 * changed.
 */
__noinline int missing_page_peek(struct vma_search *search, u64 address)
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
		   file_is_answered(inode_of(&search->entry));
	return is_mapping && is_mapped_still(search) ? may_wait : -EAGAIN;
}

static __always_inline bool page_may_wait(struct vma_search *search, u64 address)
{
	int answer = -EAGAIN;
	u32 look;

	for (look = 0; look < WAIT_LOOKS_MAX && answer == -EAGAIN; look++)
		answer = missing_page_peek(search, address);
	return answer == 1;
}

/*
 * True if the pages of the first and of the last byte of a read may be waited for. Overwrites
 * search->entry.
 */
__noinline int missing_page_may_wait(struct vma_search *search, u64 first, u64 last)
{
	return search && page_may_wait(search, first) &&
	       (first >> PAGE_BITS == last >> PAGE_BITS || page_may_wait(search, last));
}

#endif
