/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts from the SFrame specifications: header of 28 bytes; index entries of 17, 20 or 16 bytes.
 * Version 2 adds the size of a repeated block and two bytes of padding. In version 3 an entry has
 * only a start of eight bytes, relative to the entry; the number of rows, two bytes of info and the
 * size of a block stand before the rows.
 */
#include "sframe_rewrite.h"

#include <string.h>

#define HEADER_BYTES 28
#define ENTRY_BYTES_V1 17
#define ENTRY_BYTES_V2 20
#define ENTRY_BYTES_V3 16
#define ATTRIBUTE_BYTES_V3 5
#define FLAG_RELATIVE_TO_FIELD 4
#define BLOCK_BYTES 16 /* bytes of a PLT entry */

/* Offsets in the header. */
#define AT_VERSION 2
#define AT_FLAGS 3
#define AT_EXTRA 7
#define AT_FUNCTIONS 8
#define AT_ROW_BYTES 16
#define AT_INDEX_OFFSET 20
#define AT_ROWS_OFFSET 24

struct entry {
	s32 start; /* relative to the section */
	u32 bytes;
	u32 first_row;
	u32 rows;
	u8 info;
};

static u32 get_u32(const u8 *at)
{
	u32 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void put(u8 *at, u64 value, u32 bytes)
{
	memcpy(at, &value, bytes);
}

static struct entry entry_get(const u8 *at)
{
	return (struct entry){.start = get_u32(at),
			      .bytes = get_u32(at + 4),
			      .first_row = get_u32(at + 8),
			      .rows = get_u32(at + 12),
			      .info = at[16]};
}

/* The length of a function's rows in bytes. */
static u32 rows_length(const struct entry *entry, const u8 *rows)
{
	u32 address_bytes = 1U << (entry->info & 3), at = 0;

	for (u32 i = 0; i < entry->rows; i++) {
		u8 info = rows[at + address_bytes];

		at += address_bytes + 1 + ((info >> 1 & 0xf) << (info >> 5 & 3));
	}
	return at;
}

static void entry_put(u8 *to, const struct entry *entry, u32 version, s64 start, u32 row)
{
	u32 start_bytes = version == 3 ? 8 : 4;

	put(to, start, start_bytes);
	put(to + start_bytes, entry->bytes, 4);
	put(to + start_bytes + 4, row, 4);
	if (version == 3)
		return;
	put(to + 12, entry->rows, 4);
	to[16] = entry->info;
	put(to + 17, BLOCK_BYTES, 3);
}

static u32 attributes_put(u8 *to, const struct entry *entry)
{
	put(to, entry->rows, 2);
	to[2] = entry->info;
	to[3] = 0;
	to[4] = BLOCK_BYTES;
	return ATTRIBUTE_BYTES_V3;
}

/* Reads the entry of a function. The start may be relative to the field itself. */
static struct entry entry_read(const u8 *from, u32 i)
{
	u32 entry_bytes = from[AT_VERSION] == 1 ? ENTRY_BYTES_V1 : ENTRY_BYTES_V2;
	u32 at = HEADER_BYTES + get_u32(from + AT_INDEX_OFFSET) + i * entry_bytes;
	struct entry entry = entry_get(from + at);

	if (from[AT_FLAGS] & FLAG_RELATIVE_TO_FIELD)
		entry.start += at;
	return entry;
}

u32 sframe_rewrite(const u8 *from, u32 bytes, u32 version, s64 distance, u8 *to)
{
	u32 entry_bytes = version == 3 ? ENTRY_BYTES_V3 : ENTRY_BYTES_V2;
	u32 count = get_u32(from + AT_FUNCTIONS), rows_at = HEADER_BYTES + count * entry_bytes;
	u32 row = 0;

	if (bytes < HEADER_BYTES || from[AT_VERSION] > 2 || from[AT_EXTRA])
		return 0;
	for (u32 i = 0; i < count; i++) {
		struct entry entry = entry_read(from, i);
		const u8 *rows =
			from + HEADER_BYTES + get_u32(from + AT_ROWS_OFFSET) + entry.first_row;
		u32 at = HEADER_BYTES + i * entry_bytes, length = rows_length(&entry, rows);
		s64 start = entry.start - distance - (version == 3 ? at : 0);

		entry_put(to + at, &entry, version, start, row);
		if (version == 3)
			row += attributes_put(to + rows_at + row, &entry);
		memcpy(to + rows_at + row, rows, length);
		row += length;
	}
	memcpy(to, from, HEADER_BYTES);
	to[AT_VERSION] = version;
	to[AT_FLAGS] = from[AT_FLAGS] & ~FLAG_RELATIVE_TO_FIELD;
	if (version == 3)
		to[AT_FLAGS] |= FLAG_RELATIVE_TO_FIELD;
	put(to + AT_ROW_BYTES, row, 4);
	put(to + AT_INDEX_OFFSET, 0, 4);
	put(to + AT_ROWS_OFFSET, count * entry_bytes, 4);
	return rows_at + row;
}
