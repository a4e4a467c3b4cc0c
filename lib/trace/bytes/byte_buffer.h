/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer for bytes that are written, and a cursor over bytes that are read. A varint is LEB128:
 * seven bits a byte, lowest bits first, bit 7 set in all bytes but the last. Signed numbers are
 * zigzag-coded before.
 *
 * Buffer and cursor keep a failure instead of returning it at every step: a buffer without memory
 * drops all further data; a cursor that is at its end, or has met a malformed varint, returns
 * zeros. Callers check `failed` or `bad` once, at the end.
 */
#ifndef LIB_TRACE_BYTE_BUFFER_H
#define LIB_TRACE_BYTE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scalar.h"

struct byte_buffer {
	u8 *data;
	size_t used;
	size_t room;
	bool failed;
};

/* Returns a pointer to room for `bytes` bytes at the end, without changing `used`; NULL without
 * memory. */
u8 *byte_buffer_reserve(struct byte_buffer *buffer, size_t bytes);
void byte_buffer_append(struct byte_buffer *buffer, const void *data, size_t bytes);
void byte_buffer_varint(struct byte_buffer *buffer, u64 value);
void byte_buffer_signed(struct byte_buffer *buffer, s64 value);
void byte_buffer_byte(struct byte_buffer *buffer, u8 value);
/* Appends a string with its NUL, cut at TRACE_STRING_MAX; NULL counts as "". */
void byte_buffer_string(struct byte_buffer *buffer, const char *string);
void byte_buffer_clear(struct byte_buffer *buffer); /* empties the buffer and keeps its memory */
void byte_buffer_free(struct byte_buffer *buffer);

struct byte_cursor {
	const u8 *at;
	const u8 *end;
	bool bad;
};

static inline size_t byte_cursor_left(const struct byte_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

u64 byte_cursor_varint(struct byte_cursor *cursor);
/* sets `bad` if the number needs more than 32 bits */
u32 byte_cursor_u32(struct byte_cursor *cursor);
s64 byte_cursor_signed(struct byte_cursor *cursor);
/* Returns a pointer to the next `bytes` bytes and skips them. NULL if fewer bytes are left. */
const u8 *byte_cursor_read_bytes(struct byte_cursor *cursor, size_t bytes);
/* Returns a pointer to the next string, which ends with NUL. "" if the string has no end or is too
 * long. */
const char *byte_cursor_string(struct byte_cursor *cursor);

static inline u64 zigzag(s64 value)
{
	return (u64)value << 1 ^ (u64)(value >> 63);
}

static inline s64 unzigzag(u64 value)
{
	return (s64)(value >> 1 ^ -(value & 1));
}

#endif
