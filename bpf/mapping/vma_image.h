/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the first segment of a mapped file, which holds its ELF header: from the mapping of code
 * downwards over the mappings of the same file, over gaps, as segments need not touch, and over
 * memory without a file: optimizers add code after a file's zeroed data (BOLT).
 *
 * A neighbour belongs to the same image if its part of the file ends where the upper one begins.
 * Linkers that pack segments (lld) let them share one page of the file, so code can be mapped from
 * offset 0 without being the first segment. A lower mapping that ends later in the file is another
 * mapping of the file: a second image, or a reader's mapping of the whole file.
 */
#ifndef BPF_VMA_IMAGE_H
#define BPF_VMA_IMAGE_H

#include "user_mapping.h"

#define IMAGE_STEPS_MAX 16
#define IMAGE_LOOKS_MAX 16 /* tries while the memory is being changed */

/*
 * Adds a mapping to the image. The lowest mapping that shows the ELF header is the first segment,
 * and if it has no code, no segment lies below it. True: the search is over.
 */
static __always_inline bool image_add_segment(struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;

	search->image.offset = entry_file_offset(entry);
	search->image.limit = entry->start;
	if (!entry->page)
		search->vma.image = entry->start;
	return !entry->start || (!entry->page && !(entry->flags & VM_EXEC));
}

static __always_inline bool is_lower_segment(const struct vma_search *search)
{
	const struct vma_entry *entry = &search->entry;
	u64 file_end = entry_file_offset(entry) + (entry->end - entry->start);

	return (u64)inode_of(entry) == search->image.inode &&
	       file_end <= search->image.offset + (1ULL << MEMORY_PAGE_BITS);
}

static long image_search_lower_mapping(u32 index, struct vma_search **context)
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
	return !is_lower_segment(search) || image_add_segment(search);
}

/*
 * Makes one search for the image (the first segment of the file). A global function: verified by
 * itself.
 */
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
	core_rare_loop(IMAGE_STEPS_MAX, image_search_lower_mapping, &search);
	return search->image.error;
}

/* Sets search->vma.image. 0, or -EAGAIN: the mappings are being changed. */
static __always_inline int vma_find_image(struct vma_search *search)
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
