/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The window is filled from the position on: tables are read forwards, and a read of 256 bytes
 * costs little more than one of 8. The window ends at the end of the table, beyond which memory may
 * be missing.
 */
#include "unwind.h"

/* DW_EH_PE_*, the Linux Standard Base's pointer encodings. */
#define POINTER_FORMAT(encoding) ((encoding)&0x0f)
#define POINTER_RELATION(encoding) ((encoding)&0x70)
#define POINTER_INDIRECT 0x80
#define POINTER_OMITTED 0xff
#define RELATIVE_TO_NOTHING 0x00
#define RELATIVE_TO_FIELD 0x10
#define RELATIVE_TO_DATA 0x30

enum pointer_format {
	FORMAT_ABSOLUTE = 0x0,
	FORMAT_ULEB128 = 0x1,
	FORMAT_U16 = 0x2,
	FORMAT_U32 = 0x3,
	FORMAT_U64 = 0x4,
	FORMAT_SLEB128 = 0x9,
	FORMAT_S16 = 0xa,
	FORMAT_S32 = 0xb,
	FORMAT_S64 = 0xc,
};

CORE_PART bool read_within_budget(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_spend(unwind) && unwind_read(unwind, address, buffer, bytes);
}

CORE_SUBPROGRAM bool unwind_fetch(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return read_within_budget(unwind, address, buffer, bytes);
}

CORE_PART bool window_covers(const struct unwind_bytes *bytes, u64 needed)
{
	return bytes->at >= bytes->start && bytes->at - bytes->start < bytes->filled &&
	       bytes->filled - (bytes->at - bytes->start) >= needed;
}

/*
 * The number of bytes to read into the window; 0: the window has all bytes of the next step, or the
 * table has no more.
 */
CORE_GLOBAL_PART u32 window_wanted(struct unwind *unwind)
{
	struct unwind_bytes *bytes;
	u64 left;

	if (core_is_null(unwind))
		return 0;
	bytes = &unwind->bytes;
	left = bytes->end - bytes->at;
	if (bytes->at >= bytes->end || window_covers(bytes, left < BYTES_STEP ? left : BYTES_STEP))
		return 0;
	bytes->filled = 0;
	bytes->start = bytes->at;
	return left < BYTES_WINDOW ? left : BYTES_WINDOW;
}

CORE_PART void window_fill(struct unwind *unwind, struct unwind_bytes *bytes, u32 count)
{
	core_one_register(count);
	if (count <= BYTES_WINDOW && read_within_budget(unwind, bytes->at, bytes->window, count))
		bytes->filled = count;
}

/*
 * The result of bytes_ready(). A function of its own gives the callers' verifier one number, not a
 * path for each constant.
 */
CORE_GLOBAL_PART u32 window_stop(struct unwind *unwind)
{
	const struct unwind_bytes *bytes;

	if (core_is_null(unwind))
		return STOP_BAD_TABLE;
	bytes = &unwind->bytes;
	if (bytes->at >= bytes->end)
		return STOP_BAD_TABLE;
	return bytes->filled ? STOP_NONE : unwind_fetch_stop(unwind);
}

CORE_SUBPROGRAM u32 bytes_ready(struct unwind *unwind)
{
	u32 count = window_wanted(unwind);

	if (count)
		window_fill(unwind, &unwind->bytes, count);
	return window_stop(unwind);
}

/* Decodes the number of a pointer, before its relation is added. False: unknown format. */
CORE_PART bool pointer_value(struct unwind_bytes *bytes, u32 format, u64 *value)
{
	u64 raw = bytes_peek(bytes);
	struct leb128 leb = leb128_decode(raw);
	u64 size;

	switch (format) {
	case FORMAT_ABSOLUTE:
	case FORMAT_U64:
	case FORMAT_S64:
		*value = raw;
		size = 8;
		break;
	case FORMAT_U32:
		*value = (u32)raw;
		size = 4;
		break;
	case FORMAT_S32:
		*value = (s32)raw;
		size = 4;
		break;
	case FORMAT_U16:
		*value = (u16)raw;
		size = 2;
		break;
	case FORMAT_S16:
		*value = (s16)raw;
		size = 2;
		break;
	case FORMAT_ULEB128:
		*value = leb.value;
		size = leb.bytes;
		break;
	case FORMAT_SLEB128:
		*value = leb.signed_value;
		size = leb.bytes;
		break;
	default:
		return false;
	}
	bytes->at += size;
	return size <= sizeof(raw);
}

CORE_PART bool pointer_relate(u32 relation, u64 field, u64 data, u64 *value)
{
	if (relation == RELATIVE_TO_FIELD)
		*value += field;
	else if (relation == RELATIVE_TO_DATA)
		*value += data;
	else
		return relation == RELATIVE_TO_NOTHING;
	return true;
}

/* Takes a pointer without its indirection. False: an encoding that no toolchain emits. */
CORE_GLOBAL_PART int pointer_take(struct unwind *unwind, u32 encoding, u64 data)
{
	u64 field;

	if (core_is_null(unwind))
		return false;
	field = unwind->bytes.at;
	return encoding != POINTER_OMITTED &&
	       pointer_value(&unwind->bytes, POINTER_FORMAT(encoding), &unwind->pointer) &&
	       pointer_relate(POINTER_RELATION(encoding), field, data, &unwind->pointer);
}

CORE_SUBPROGRAM u32 bytes_pointer(struct unwind *unwind, u32 encoding, u64 data)
{
	if (!pointer_take(unwind, encoding, data))
		return STOP_UNSUPPORTED;
	if (encoding & POINTER_INDIRECT &&
	    !read_within_budget(unwind, unwind->pointer, &unwind->pointer, sizeof(unwind->pointer)))
		return unwind_fetch_stop(unwind);
	return STOP_NONE;
}
