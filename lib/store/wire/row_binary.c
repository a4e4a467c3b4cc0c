/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RowBinary is little-endian, like all supported machines, so numbers are copied as they are. */
#include "store/wire/row_binary.h"

#include <string.h>

void row_put_u8(struct byte_buffer *rows, u8 value)
{
	byte_buffer_byte(rows, value);
}

void row_put_u16(struct byte_buffer *rows, u16 value)
{
	byte_buffer_append(rows, &value, sizeof(value));
}

void row_put_u32(struct byte_buffer *rows, u32 value)
{
	byte_buffer_append(rows, &value, sizeof(value));
}

void row_put_u64(struct byte_buffer *rows, u64 value)
{
	byte_buffer_append(rows, &value, sizeof(value));
}

void row_put_bytes(struct byte_buffer *rows, const void *bytes, size_t length)
{
	byte_buffer_append(rows, bytes, length);
}

void row_put_text(struct byte_buffer *rows, const char *text)
{
	size_t length = strlen(text);

	row_put_count(rows, length);
	byte_buffer_append(rows, text, length);
}

void row_put_count(struct byte_buffer *rows, u64 count)
{
	byte_buffer_varint(rows, count);
}

static void get(struct byte_cursor *rows, void *value, size_t bytes)
{
	const u8 *at = byte_cursor_take(rows, bytes);

	if (at)
		memcpy(value, at, bytes);
}

u8 row_get_u8(struct byte_cursor *rows)
{
	u8 value = 0;

	get(rows, &value, sizeof(value));
	return value;
}

u16 row_get_u16(struct byte_cursor *rows)
{
	u16 value = 0;

	get(rows, &value, sizeof(value));
	return value;
}

u32 row_get_u32(struct byte_cursor *rows)
{
	u32 value = 0;

	get(rows, &value, sizeof(value));
	return value;
}

u64 row_get_u64(struct byte_cursor *rows)
{
	u64 value = 0;

	get(rows, &value, sizeof(value));
	return value;
}

const u8 *row_get_bytes(struct byte_cursor *rows, size_t length)
{
	return byte_cursor_take(rows, length);
}

u64 row_get_count(struct byte_cursor *rows)
{
	u64 count = byte_cursor_varint(rows);

	if (count <= byte_cursor_left(rows))
		return count;
	rows->bad = true;
	rows->at = rows->end;
	return 0;
}

const char *row_get_text(struct byte_cursor *rows, size_t *length)
{
	u64 count = row_get_count(rows);
	const u8 *text = rows->bad ? NULL : byte_cursor_take(rows, count);

	*length = text ? count : 0;
	return text ? (const char *)text : "";
}

char *row_get_string(struct byte_cursor *rows)
{
	size_t length;
	const char *text = row_get_text(rows, &length);

	return strndup(text, length);
}
