/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RowBinary is little-endian, like all supported machines, so numbers are copied as they are. */
#include "store/wire/row_binary.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

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

static void read_bytes(struct byte_cursor *rows, void *value, size_t bytes)
{
	const u8 *at = byte_cursor_read_bytes(rows, bytes);

	if (at)
		memcpy(value, at, bytes);
}

u8 row_get_u8(struct byte_cursor *rows)
{
	u8 value = 0;

	read_bytes(rows, &value, sizeof(value));
	return value;
}

u16 row_get_u16(struct byte_cursor *rows)
{
	u16 value = 0;

	read_bytes(rows, &value, sizeof(value));
	return value;
}

u32 row_get_u32(struct byte_cursor *rows)
{
	u32 value = 0;

	read_bytes(rows, &value, sizeof(value));
	return value;
}

u64 row_get_u64(struct byte_cursor *rows)
{
	u64 value = 0;

	read_bytes(rows, &value, sizeof(value));
	return value;
}

const u8 *row_get_bytes(struct byte_cursor *rows, size_t length)
{
	return byte_cursor_read_bytes(rows, length);
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
	const u8 *text = rows->bad ? NULL : byte_cursor_read_bytes(rows, count);

	*length = text ? count : 0;
	return text ? (const char *)text : "";
}

char *row_get_string(struct byte_cursor *rows)
{
	size_t length;
	const char *text = row_get_text(rows, &length);

	return strndup(text, length);
}

/*
 * A block consists of: the checksum of the rest (16 bytes), the method (0x90: zstd), the length
 * from the method on, the unpacked length (u32 each), and the zstd frame.
 */

/*
 * CityHash by Geoff Pike and Jyrki Alakuijala (2011), the algorithm for 128 bits. The first 16
 * bytes are the seed. The rest is hashed in chunks of 64 bytes into 56 bytes of state, two chunks a
 * step. The remainder of less than 128 bytes is hashed in parts of 32 bytes from the end backwards;
 * the last part may overlap bytes that were hashed before.
 */

#define K0 0xc3a5c85c97cb3127
#define K1 0xb492b66fbe98f273
#define K3 0xc949d7c7509e6557
#define FOLD 0x9ddfea08eb382d69

#define SEED_BYTES 16
#define CHUNK_BYTES 64
#define TAIL_BYTES 32

struct state {
	u64 x, y, z;
	struct city_hash v, w; /* two running hashes, each over one half of each chunk */
};

static u64 load_word(const u8 *at)
{
	u64 value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static u64 rotate_right(u64 value, u32 by)
{
	return value >> by | value << (64 - by);
}

/* Hashes two words to one word. */
static u64 hash_two_words(u64 low, u64 high)
{
	u64 a = (low ^ high) * FOLD;
	u64 b;

	a ^= a >> 47;
	b = (high ^ a) * FOLD;
	b ^= b >> 47;
	return b * FOLD;
}

/* Hashes 32 bytes into a pair of words. */
static struct city_hash hash_32_bytes(const u8 *at, u64 a, u64 b)
{
	u64 first = a + load_word(at);
	u64 middle = first + load_word(at + 8) + load_word(at + 16);
	u64 last = load_word(at + 24);

	b = rotate_right(b + first + last, 21);
	return (struct city_hash){.low = middle + last,
				  .high = b + rotate_right(middle, 44) + first};
}

static void hash_chunk(struct state *state, const u8 *at)
{
	u64 x = rotate_right(state->x + state->y + state->v.low + load_word(at + 16), 37) * K1;
	u64 y = rotate_right(state->y + state->v.high + load_word(at + 48), 42) * K1;

	x ^= state->w.high;
	y ^= state->v.low;
	state->y = y;
	state->x = rotate_right(state->z ^ state->w.low, 33);
	state->v = hash_32_bytes(at, state->v.high * K1, x + state->w.low);
	state->w = hash_32_bytes(at + 32, state->x + state->w.high, y);
	state->z = x;
}

struct city_hash city_hash_128(const u8 *data, size_t bytes)
{
	const u8 *at = data + SEED_BYTES;
	size_t left = bytes - SEED_BYTES;
	struct state state = {.x = load_word(data) ^ K3, .y = load_word(data + 8), .z = left * K1};
	u64 x, y;

	state.v.low = rotate_right(state.y ^ K1, 49) * K1 + load_word(at);
	state.v.high = rotate_right(state.v.low, 42) * K1 + load_word(at + 8);
	state.w.low = rotate_right(state.y + state.z, 35) * K1 + state.x;
	state.w.high = rotate_right(state.x + load_word(at + 88), 53) * K1;
	for (; left >= 2 * CHUNK_BYTES; left -= 2 * CHUNK_BYTES, at += 2 * CHUNK_BYTES) {
		hash_chunk(&state, at);
		hash_chunk(&state, at + CHUNK_BYTES);
	}
	state.y += rotate_right(state.w.low, 37) * K0 + state.z;
	state.x += rotate_right(state.v.low + state.z, 49) * K0;
	for (size_t taken = TAIL_BYTES; taken < left + TAIL_BYTES; taken += TAIL_BYTES) {
		const u8 *tail = at + left - taken;

		state.y = rotate_right(state.y - state.x, 42) * K0 + state.v.high;
		state.w.low += load_word(tail + 16);
		state.x = rotate_right(state.x, 49) * K0 + state.w.low;
		state.w.low += state.v.low;
		state.v = hash_32_bytes(tail, state.v.low, state.v.high);
	}
	x = hash_two_words(state.x, state.v.low);
	y = hash_two_words(state.y, state.w.low);
	return (struct city_hash){.low = hash_two_words(x + state.v.high, state.w.high) + y,
				  .high = hash_two_words(x + state.w.high, y + state.v.high)};
}

#define CHECKSUM_BYTES 16
#define METHOD_ZSTD 0x90
#define HEAD_BYTES 9
#define LEVEL 3

struct block_head {
	u8 method;
	u32 packed_bytes, plain_bytes;
} __attribute__((packed));

/* Compresses rows into a block at `at`. Returns the length of the block, 0 without memory. */
static size_t compress_block(u8 *at, size_t room, const void *rows, size_t bytes)
{
	u8 *body = at + CHECKSUM_BYTES;
	size_t frame = ZSTD_compress(body + HEAD_BYTES, room, rows, bytes, LEVEL);
	struct block_head head = {.method = METHOD_ZSTD, .plain_bytes = (u32)bytes};
	struct city_hash checksum;

	_Static_assert(sizeof(head) == HEAD_BYTES, "as the server reads it");
	if (ZSTD_isError(frame))
		return 0;
	head.packed_bytes = (u32)(HEAD_BYTES + frame);
	if (head.packed_bytes < CITY_HASH_BYTES_MIN)
		return head.packed_bytes;
	memcpy(body, &head, sizeof(head));
	checksum = city_hash_128(body, head.packed_bytes);
	memcpy(at, &checksum, sizeof(checksum));
	return CHECKSUM_BYTES + head.packed_bytes;
}

int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes)
{
	size_t before = packed->used;
	int err = bytes ? 0 : -ENODATA;

	for (size_t at = 0; !err && at < bytes; at += PACKED_BLOCK_BYTES) {
		size_t left = bytes - at;
		size_t length = left < PACKED_BLOCK_BYTES ? left : PACKED_BLOCK_BYTES;
		size_t room = ZSTD_compressBound(length);
		u8 *end = byte_buffer_reserve(packed, CHECKSUM_BYTES + HEAD_BYTES + room);
		size_t used = end ? compress_block(end, room, (const u8 *)rows + at, length) : 0;

		if (!used)
			err = -ENOMEM;
		else if (used < CHECKSUM_BYTES + CITY_HASH_BYTES_MIN)
			err = -ENODATA; /* the block is too short for its checksum */
		else
			packed->used += used;
	}
	if (err)
		packed->used = before;
	return err;
}
