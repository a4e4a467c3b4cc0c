/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where the unwind tables of a mapped ELF file lie, read from its program headers in memory. */
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
	u64 header;			 /* address of the ELF header; 0: nothing is known */
	u64 bias;			 /* address = bias + p_vaddr */
	struct image_range eh_frame_hdr; /* start 0: the file has none */
	struct image_range sframe;
	struct image_range eh_frame; /* of a file without an index, once it was searched */
	u64 note;		     /* the first one; 0: there is none */
	bool searched;
	u32 segment_count;
	struct image_range segment[IMAGE_SEGMENTS_MAX]; /* read-only ones that are loaded */
	u64 segment_offset[IMAGE_SEGMENTS_MAX];		/* in the file */
};

/* Makes unwind->image that of unwind->mapping. STOP_NO_RULE: what is mapped is no ELF image. */
CORE_INLINE u32 image_enter(struct unwind *unwind);

static inline bool image_range_has(const struct image_range *range, u64 address)
{
	return address - range->start < range->end - range->start;
}

/* How far memory is known to be there behind an address: to the end of its segment, or `least`
 * bytes. */
static inline u64 image_limit(const struct unwind_image *image, u64 address, u32 least)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (image_range_has(&image->segment[i], address))
			return image->segment[i].end;
	return address + least;
}

/* Where in the file an address lies, by the program headers: as these are counted from the header
 * on, so is what lies in none of the segments. */
static inline u64 image_file_offset(const struct unwind_image *image, u64 header, u64 address)
{
	for (u32 i = 0; i < IMAGE_SEGMENTS_MAX; i++)
		if (image_range_has(&image->segment[i], address))
			return address - image->segment[i].start + image->segment_offset[i];
	return address - header;
}

#endif
