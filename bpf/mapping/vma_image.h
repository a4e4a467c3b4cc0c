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
#define IMAGE_LOOKS_MAX 16 /* at memory that is being changed */
#define IMAGE_PAGE 4096

/* The lowest mapping that shows the ELF header is the first segment; below one without code there
 * is no other. */
static __always_inline bool image_add(struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;

	search->image.offset = entry->page_offset;
	search->image.limit = entry->start;
	if (!entry->page_offset)
		search->vma.image = entry->start;
	return !entry->start || (!entry->page_offset && !(entry->flags & VM_EXEC));
}

static __always_inline bool is_lower_part(const struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;
	u64 file_end = entry->page_offset + (entry->end - entry->start);

	return (u64)inode_of(entry) == search->image.inode &&
	       file_end <= search->image.offset + IMAGE_PAGE;
}

static long image_step(u32 index, struct vma_search **context)
{
	struct vma_search *search = *context;
	struct vma_entry *entry = &search->entry;
	bool is_mapping = vma_find(search, search->image.limit - 1);

	if (entry->end > search->image.limit || (!is_mapping && entry->vma)) {
		search->image.error = -EAGAIN;
		return 1;
	}
	if (!entry->file) {
		search->image.limit = entry->start;
		return !entry->start;
	}
	return !is_lower_part(search) || image_add(search);
}

/* One look for the image. A global function: it is verified by itself. */
__noinline int image_lookup(struct vma_search *search)
{
	struct known_vma *vma;

	if (!search)
		return -EINVAL;
	vma = &search->vma;
	vma->image = vma->kind != MAPPING_ANON && !vma->file_offset ? vma->start : 0;
	if (vma->kind != MAPPING_FILE)
		return 0;
	if (!vma_find(search, vma->start))
		return -EAGAIN;
	search->image.error = 0;
	search->image.inode = (u64)inode_of(&search->entry);
	search->image.offset = vma->file_offset;
	search->image.limit = vma->start;
	bpf_loop(IMAGE_STEPS_MAX, image_step, &search, 0);
	return search->image.error;
}

/* Makes search->vma.image that of search->vma: 0, or -EAGAIN where the mappings are being changed.
 */
static __always_inline int vma_image(struct vma_search *search)
{
	u32 look;

	if (search->vma.has_image)
		return 0;
	for (look = 0; look < IMAGE_LOOKS_MAX; look++) {
		if (image_lookup(search))
			continue;
		search->vma.has_image = 1;
		return 0;
	}
	return -EAGAIN;
}

#endif
