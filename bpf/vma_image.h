/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the first segment of a mapped file lies, which holds its ELF header: from the mapping of
 * code downwards over the mappings of the same file, over gaps, as segments need not touch, and
 * over memory without a file: optimizers add code behind a file's zeroed data (BOLT).
 *
 * A neighbour is of the same image if its part of the file ends where the upper one begins; linkers
 * that pack segments (lld) let them share one page of the file, so that code can also be mapped
 * from offset 0 without being the first segment. What lies lower and ends later in the file is
 * another mapping of it: a second image, or the whole file, read by somebody.
 */
#ifndef BPF_VMA_IMAGE_H
#define BPF_VMA_IMAGE_H

#include "user_mapping.h"

#define IMAGE_STEPS_MAX 16
#define IMAGE_PAGE 4096

/* From the mapping search->entry was, downwards. */
struct image_walk {
	struct vma_search *search;
	struct inode *inode;
	u64 offset; /* in the file, of the lowest mapping found of the image */
	u64 limit;  /* what is to be looked at lies below */
	u64 image;
	s64 error;
};

static __always_inline struct inode *inode_of(const struct vma_entry *entry)
{
	struct file *file = (void *)entry->file;

	return file ? BPF_CORE_READ(file, f_inode) : NULL;
}

/* The lowest mapping that shows the ELF header is the first segment; below one without code there
 * is no other. */
static __always_inline bool image_add(struct image_walk *walk, const struct vma_entry *entry)
{
	walk->offset = entry->page_offset;
	walk->limit = entry->start;
	if (!walk->offset)
		walk->image = entry->start;
	return !walk->limit || (!walk->offset && !(entry->flags & VM_EXEC));
}

static __always_inline bool is_lower_part(const struct vma_entry *entry,
					  const struct image_walk *walk)
{
	u64 file_end = entry->page_offset + (entry->end - entry->start);

	return inode_of(entry) == walk->inode && file_end <= walk->offset + IMAGE_PAGE;
}

static long image_step(u32 index, struct image_walk *walk)
{
	struct vma_entry *entry = &walk->search->entry;
	bool is_mapping = vma_find(walk->search, walk->limit - 1);

	if (entry->end > walk->limit || (!is_mapping && entry->vma)) {
		walk->error = -EAGAIN;
		return 1;
	}
	if (!entry->file) {
		walk->limit = entry->start;
		return !walk->limit;
	}
	return !is_lower_part(entry, walk) || image_add(walk, entry);
}

/* Makes search->vma.image that of search->vma. */
static __always_inline int image_look(struct vma_search *search)
{
	struct image_walk walk = {.search = search};
	struct vma_entry *entry = &search->entry;

	search->vma.image = 0;
	if (!vma_find(search, search->vma.start))
		return -EAGAIN;
	if (!entry->file) {
		search->vma.image = is_vdso(search, entry) ? entry->start : 0;
		return 0;
	}
	walk.inode = inode_of(entry);
	if (!image_add(&walk, entry))
		bpf_loop(IMAGE_STEPS_MAX, image_step, &walk, 0);
	search->vma.image = walk.image;
	return walk.error;
}

/* Makes search->vma.image that of search->vma: 0, or -EAGAIN where the mappings are being changed.
 */
__noinline int vma_image(struct vma_search *search)
{
	int error = -EAGAIN;
	u32 look;

	if (!search)
		return -EINVAL;
	if (search->vma.has_image)
		return 0;
	for (look = 0; look < LOOKS_MAX && error; look++)
		error = image_look(search);
	search->vma.has_image = !error;
	return error;
}

#endif
