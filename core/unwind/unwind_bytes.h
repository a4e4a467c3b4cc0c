/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads an unwind table out of another address space: a position and an end, as addresses there,
 * and a window of bytes around the position that one read fills.
 *
 * bytes_ready() makes the next BYTES_STEP bytes valid for decoding. Decoding within a step makes no
 * checks: the caller checks once, at the end, that the position did not pass the end
 * (bytes_overrun). Until then decoding yields the bytes of the window, whatever they are, never a
 * bad access.
 */
#ifndef CORE_UNWIND_BYTES_H
#define CORE_UNWIND_BYTES_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"

struct unwind;

#define BYTES_WINDOW 256 /* a power of two */
#define BYTES_STEP 32	 /* the most that one step decodes: an opcode and two operands */

struct unwind_bytes {
	u64 at;
	u64 end;
	u64 start; /* address of window[0] */
	u64 filled;
	u8 window[BYTES_WINDOW + 2 * BYTES_STEP];
};

#define LEB128_TOO_LONG (1ULL << 40)

/*
 * A number of variable length, and its length in bytes: LEB128_TOO_LONG, which leads beyond every
 * table, if the number has more than 56 bits.
 */
struct leb128 {
	u64 value;
	s64 signed_value;
	u64 bytes;
};

/* Reads memory of the task within the budget. */
CORE_SUBPROGRAM bool unwind_fetch(struct unwind *unwind, u64 address, void *buffer, u32 bytes);

/* STOP_NONE, STOP_BAD_TABLE at the end, STOP_TABLE_UNREADABLE or STOP_BUDGET. */
CORE_SUBPROGRAM u32 bytes_ready(struct unwind *unwind);

/*
 * Takes a pointer in `encoding` (DW_EH_PE_*); `data` is the base of data-relative pointers. The
 * position moves behind the pointer. STOP_UNSUPPORTED: an encoding that no toolchain emits.
 */
CORE_SUBPROGRAM u32 bytes_pointer(struct unwind *unwind, u32 encoding, u64 data);

static inline void bytes_open(struct unwind_bytes *bytes, u64 at, u64 end)
{
	bytes->at = at;
	bytes->end = end;
}

static inline bool bytes_overrun(const struct unwind_bytes *bytes)
{
	return bytes->at > bytes->end;
}

/* The next eight bytes, without moving the position. */
static inline u64 bytes_peek(const struct unwind_bytes *bytes)
{
	u64 index = bytes->at - bytes->start;

	core_one_register(index);
	return core_load_u64(&bytes->window[index & (BYTES_WINDOW - 1)]);
}

static inline u64 bytes_take(struct unwind_bytes *bytes, u32 count)
{
	u64 value = bytes_peek(bytes);

	bytes->at += count;
	return count == 8 ? value : value & ((1ULL << 8 * count) - 1);
}

static inline u8 bytes_take_u8(struct unwind_bytes *bytes)
{
	return bytes_take(bytes, 1);
}

/*
 * Decodes eight bytes at once, without a branch: the lowest clear bit 7 ends the number; higher
 * bytes are masked off; three steps close the gaps between groups of 7, 14 and 28 bits.
 */
ABI_INLINE struct leb128 leb128_decode(u64 raw)
{
	u64 ends = ~raw & 0x8080808080808080ULL;
	u64 kept = (ends & -ends) | ((ends & -ends) - 1);
	u64 bytes = ((kept & 0x0101010101010101ULL) * 0x0101010101010101ULL) >> 56;
	u64 value = raw & kept & 0x7f7f7f7f7f7f7f7fULL;
	struct leb128 leb = {.bytes = ends ? bytes : LEB128_TOO_LONG};
	u32 unused = 64 - 7 * bytes;

	value = (value & 0x007f007f007f007fULL) | (value & 0x7f007f007f007f00ULL) >> 1;
	value = (value & 0x00003fff00003fffULL) | (value & 0x3fff00003fff0000ULL) >> 2;
	value = (value & 0x000000000fffffffULL) | (value & 0x0fffffff00000000ULL) >> 4;
	leb.value = value;
	leb.signed_value = (s64)(value << (unused & 63)) >> (unused & 63);
	return leb;
}

ABI_INLINE struct leb128 bytes_leb128(struct unwind_bytes *bytes)
{
	struct leb128 leb = leb128_decode(bytes_peek(bytes));

	bytes->at += leb.bytes;
	return leb;
}

/* The unwind tables of a mapped ELF file, found by its program headers in memory. */

#define IMAGE_SEGMENTS_MAX 6

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

/* Sets unwind->image to the image of unwind->mapping. STOP_NO_RULE: the mapping has no ELF file. */
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
