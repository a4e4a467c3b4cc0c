/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers of DWARF one after the other. Past the end everything is 0 and `bad` stays set. */
#ifndef LIB_SYMBOL_DWARF_CURSOR_H
#define LIB_SYMBOL_DWARF_CURSOR_H

#include <stdbool.h>
#include <string.h>

#include "scalar.h"

struct dwarf_cursor {
	const u8 *at, *end;
	bool bad;
};

static inline bool cursor_has(struct dwarf_cursor *cursor, u64 bytes)
{
	if ((u64)(cursor->end - cursor->at) >= bytes)
		return true;
	cursor->at = cursor->end;
	cursor->bad = true;
	return false;
}

static inline void cursor_skip(struct dwarf_cursor *cursor, u64 bytes)
{
	if (cursor_has(cursor, bytes))
		cursor->at += bytes;
}

/* Of 1 to 8 bytes, in the byte order of this machine, which is little. */
static inline u64 cursor_number(struct dwarf_cursor *cursor, u32 bytes)
{
	u64 value = 0;

	if (bytes > sizeof(value) || !cursor_has(cursor, bytes))
		return 0;
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	return value;
}

/* LEB128. Bits beyond 64 are lost. */
static inline u64 cursor_unsigned(struct dwarf_cursor *cursor)
{
	u64 value = 0;

	for (u32 shift = 0; cursor_has(cursor, 1); shift += 7) {
		u8 byte = *cursor->at++;

		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static inline s64 cursor_signed(struct dwarf_cursor *cursor)
{
	u64 value = 0;

	for (u32 shift = 0; cursor_has(cursor, 1);) {
		u8 byte = *cursor->at++;

		if (shift < 64)
			value |= (u64)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~0ULL << shift;
		break;
	}
	return (s64)value;
}

/* A text with its NUL. */
static inline const char *cursor_text(struct dwarf_cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const u8 *nul = memchr(cursor->at, 0, cursor->end - cursor->at);

	if (!nul) {
		cursor->at = cursor->end;
		cursor->bad = true;
		return "";
	}
	cursor->at = nul + 1;
	return text;
}

#endif
