/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block consists of: the checksum of the rest (16 bytes), the method (0x90: zstd), the length
 * from the method on, the unpacked length (u32 each), and the zstd frame.
 */
#include "store/wire/packed_rows.h"

#include <errno.h>
#include <string.h>

#include <zstd.h>

#include "store/wire/city_hash.h"

#define CHECKSUM_BYTES 16
#define METHOD_ZSTD 0x90
#define HEAD_BYTES 9
#define LEVEL 3

struct block_head {
	u8 method;
	u32 packed_bytes, plain_bytes;
} __attribute__((packed));

/* Packs rows to `at`; returns the length of the block, 0 without memory. */
static size_t pack_block(u8 *at, size_t room, const void *rows, size_t bytes)
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

/* Appends one block; -ENODATA: the block is too short for its checksum. */
static int append_block(struct byte_buffer *packed, const void *rows, size_t bytes)
{
	size_t room = ZSTD_compressBound(bytes);
	u8 *end = byte_buffer_reserve(packed, CHECKSUM_BYTES + HEAD_BYTES + room);
	size_t used = end ? pack_block(end, room, rows, bytes) : 0;

	if (!used)
		return -ENOMEM;
	if (used < CHECKSUM_BYTES + CITY_HASH_BYTES_MIN)
		return -ENODATA;
	packed->used += used;
	return 0;
}

int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes)
{
	size_t before = packed->used;
	int err = bytes ? 0 : -ENODATA;

	for (size_t at = 0; !err && at < bytes; at += PACKED_BLOCK_BYTES) {
		size_t left = bytes - at;

		err = append_block(packed, (const u8 *)rows + at,
				   left < PACKED_BLOCK_BYTES ? left : PACKED_BLOCK_BYTES);
	}
	if (err)
		packed->used = before;
	return err;
}
