/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "trace/bytes/byte_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "trace_file.h"

#define ROOM_MIN 256
#define VARINT_BYTES_MAX 10

static bool grow_buffer(struct byte_buffer *buffer, size_t bytes)
{
	size_t room = buffer->room ? buffer->room : ROOM_MIN;
	u8 *data;

	while (room - buffer->used < bytes)
		room *= 2;
	data = realloc(buffer->data, room);
	if (!data) {
		buffer->failed = true;
		return false;
	}
	buffer->data = data;
	buffer->room = room;
	return true;
}

u8 *byte_buffer_reserve(struct byte_buffer *buffer, size_t bytes)
{
	if (buffer->failed)
		return NULL;
	if ((!buffer->data || buffer->room - buffer->used < bytes) && !grow_buffer(buffer, bytes))
		return NULL;
	return buffer->data + buffer->used;
}

void byte_buffer_append(struct byte_buffer *buffer, const void *data, size_t bytes)
{
	u8 *end = byte_buffer_reserve(buffer, bytes);

	if (!end || !bytes)
		return;
	memcpy(end, data, bytes);
	buffer->used += bytes;
}

void byte_buffer_varint(struct byte_buffer *buffer, u64 value)
{
	u8 *end = byte_buffer_reserve(buffer, VARINT_BYTES_MAX);

	if (!end)
		return;
	for (; value >= 0x80; value >>= 7)
		*end++ = (u8)value | 0x80;
	*end++ = (u8)value;
	buffer->used = (size_t)(end - buffer->data);
}

void byte_buffer_signed(struct byte_buffer *buffer, s64 value)
{
	byte_buffer_varint(buffer, zigzag(value));
}

void byte_buffer_byte(struct byte_buffer *buffer, u8 value)
{
	byte_buffer_append(buffer, &value, 1);
}

void byte_buffer_string(struct byte_buffer *buffer, const char *string)
{
	if (string)
		byte_buffer_append(buffer, string, strnlen(string, TRACE_STRING_MAX));
	byte_buffer_byte(buffer, 0);
}

void byte_buffer_clear(struct byte_buffer *buffer)
{
	buffer->used = 0;
}

void byte_buffer_free(struct byte_buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

static u64 mark_cursor_overrun(struct byte_cursor *cursor)
{
	cursor->bad = true;
	cursor->at = cursor->end;
	return 0;
}

u64 byte_cursor_varint(struct byte_cursor *cursor)
{
	u64 value = 0;

	for (unsigned int shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
		u8 byte = *cursor->at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	return mark_cursor_overrun(cursor);
}

u32 byte_cursor_u32(struct byte_cursor *cursor)
{
	u64 value = byte_cursor_varint(cursor);

	return value <= UINT32_MAX ? (u32)value : (u32)mark_cursor_overrun(cursor);
}

s64 byte_cursor_signed(struct byte_cursor *cursor)
{
	return unzigzag(byte_cursor_varint(cursor));
}

const u8 *byte_cursor_read_bytes(struct byte_cursor *cursor, size_t bytes)
{
	const u8 *at = cursor->at;

	if (byte_cursor_left(cursor) < bytes) {
		mark_cursor_overrun(cursor);
		return NULL;
	}
	cursor->at += bytes;
	return at;
}

const char *byte_cursor_string(struct byte_cursor *cursor)
{
	const u8 *at = cursor->at;
	size_t left = byte_cursor_left(cursor);
	const u8 *end = left ? memchr(at, 0, left) : NULL;

	if (!end || end - at > (ptrdiff_t)TRACE_STRING_MAX) {
		mark_cursor_overrun(cursor);
		return "";
	}
	cursor->at = end + 1;
	return (const char *)at;
}
