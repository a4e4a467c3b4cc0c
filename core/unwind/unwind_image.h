/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind tables of a mapped ELF file, found by its program headers in memory. */
#ifndef CORE_UNWIND_IMAGE_H
#define CORE_UNWIND_IMAGE_H

#include <stdbool.h>

#include "env.h"

#define IMAGE_SEGMENTS_MAX 6

struct unwind;

struct image_range {
	u64 start;
	u64 end;
};

struct unwind_image {
	u64 header;			 /* address of the ELF header; 0: no image was read */
	u64 bias;			 /* address = bias + p_vaddr */
	struct image_range eh_frame_hdr; /* start 0: the file has no index */
	struct image_range sframe;
	struct image_range eh_frame; /* the section, after a search in a file without index */
	u64 note;		     /* address of the first note; 0: the file has no note */
	bool searched;
	u32 segment_count;
	/* loaded segments that are not writable data */
	struct image_range segment[IMAGE_SEGMENTS_MAX];
	u64 segment_offset[IMAGE_SEGMENTS_MAX]; /* file offsets of these segments */
};

/* Sets unwind->image to the image of unwind->mapping. STOP_NO_RULE: the mapping is no ELF image. */
CORE_INLINE u32 image_enter(struct unwind *unwind);

static inline bool image_range_has(const struct image_range *range, u64 address)
{
	return address - range->start < range->end - range->start;
}

/*
 * The end of the memory that is known to be mapped from an address on: the end of its segment, or
 * `least` bytes.
 */
static inline u64 image_limit(const struct unwind_image *image, u64 address, u32 least)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (image_range_has(&image->segment[i], address))
			return image->segment[i].end;
	return address + least;
}

/*
 * The file offset of an address, by the program headers. Addresses outside of the segments count
 * from the header on, as the program headers themselves do.
 */
static inline u64 image_file_offset(const struct unwind_image *image, u64 header, u64 address)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (image_range_has(&image->segment[i], address))
			return address - image->segment[i].start + image->segment_offset[i];
	return address - header;
}

#endif
