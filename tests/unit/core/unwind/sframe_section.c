/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sframe_section.h"

#define HEADER_BYTES 28
#define ADDRESSES_1 0
#define ADDRESSES_2 1
#define BLOCK 0x10
#define SIGNAL 0x80
#define FLEXIBLE 1

#define ROW_SP 1
#define ROW_FP 0
#define ROW_WORDS(n) ((n) << 1)
#define ROW_WORD_2 (1 << 5)

#define CONTROL(reg, is_deref) ((reg) << 3 | (is_deref) << 1 | 1)

struct function {
	s32 start;
	u32 bytes;
	u8 info, info2, block;
	u8 row_count;
	u8 row_bytes;
	u8 rows[32];
};

static const struct function functions[] = {
	{0,
	 32,
	 ADDRESSES_1,
	 0,
	 0,
	 4,
	 14,
	 {0, ROW_SP | ROW_WORDS(1), 8, 1, ROW_SP | ROW_WORDS(2), 16, (u8)-16, 4,
	  ROW_FP | ROW_WORDS(2), 16, (u8)-16, 30, ROW_SP | ROW_WORDS(1), 8}},
	{0x20,
	 64,
	 ADDRESSES_1 | BLOCK,
	 0,
	 16,
	 2,
	 6,
	 {0, ROW_SP | ROW_WORDS(1), 8, 11, ROW_SP | ROW_WORDS(1), 16}},
	{0x60,
	 300,
	 ADDRESSES_2,
	 0,
	 0,
	 3,
	 12,
	 {0, 0, ROW_SP | ROW_WORDS(1), 8, 2, 0, ROW_SP | ROW_WORDS(1) | ROW_WORD_2, 1000 & 0xff,
	  1000 >> 8, 290 & 0xff, 290 >> 8, ROW_SP | ROW_WORDS(0)}},
	{0x200,
	 16,
	 ADDRESSES_1,
	 FLEXIBLE,
	 0,
	 2,
	 11,
	 {0, ROW_WORDS(2), CONTROL(10, 0), 0, 4, ROW_WORDS(5), CONTROL(6, 1), (u8)-8, 0,
	  CONTROL(6, 1), 0}},
	{0x210, 16, ADDRESSES_1 | SIGNAL, 0, 0, 1, 3, {0, ROW_SP | ROW_WORDS(1), 24}},
};

static void put(struct sframe_section *section, u64 value, u32 bytes)
{
	memcpy(section->byte + section->bytes, &value, bytes);
	section->bytes += bytes;
}

static void put_header(struct sframe_section *section, int version, u32 count, u32 index_bytes,
		       u32 row_bytes)
{
	put(section, 0xdee2, 2);
	put(section, version, 1);
	put(section, version == 3 ? 1 | 4 : 1, 1); /* sorted; relative to the field */
	put(section, 3, 1);			   /* AMD64 */
	put(section, 0, 1);
	put(section, (u8)-8, 1);
	put(section, 0, 1);
	put(section, count, 4);
	put(section, 0, 4);
	put(section, row_bytes, 4);
	put(section, 0, 4);
	put(section, index_bytes, 4);
}

static void put_index(struct sframe_section *section, int version, const struct function *function,
		      s32 start, u32 row)
{
	if (version == 3)
		put(section, start + function->start - (s64)section->bytes, 8);
	else
		put(section, start + function->start, 4);
	put(section, function->bytes, 4);
	put(section, row, 4);
	if (version == 3)
		return;
	put(section, function->row_count, 4);
	put(section, function->info, 1);
	if (version == 2)
		put(section, function->block, 3);
}

static void put_rows(struct sframe_section *section, int version, const struct function *function)
{
	if (version == 3) {
		put(section, function->row_count, 2);
		put(section, function->info, 1);
		put(section, function->info2, 1);
		put(section, function->block, 1);
	}
	memcpy(section->byte + section->bytes, function->rows, function->row_bytes);
	section->bytes += function->row_bytes;
}

void sframe_section_make(struct sframe_section *section, int version, s32 start)
{
	static const u32 index_entry[] = {0, 17, 20, 16};
	u32 count = version == 3 ? 5 : 3, extra = version == 3 ? 5 : 0, row = 0;

	for (u32 i = 0; i < count; i++)
		row += extra + functions[i].row_bytes;
	section->bytes = 0;
	put_header(section, version, count, count * index_entry[version], row);
	row = 0;
	for (u32 i = 0; i < count; i++) {
		put_index(section, version, &functions[i], start, row);
		row += extra + functions[i].row_bytes;
	}
	for (u32 i = 0; i < count; i++)
		put_rows(section, version, &functions[i]);
}
