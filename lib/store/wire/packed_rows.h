/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows as ClickHouse's compressed blocks, which every version accepts with `decompress=1`. Old
 * versions refuse zstd as an HTTP encoding, and gzip takes 1.7 times the bytes.
 *
 * A block has up to PACKED_BLOCK_BYTES of rows. The server stores no row of an incomplete block.
 */
#ifndef LIB_STORE_WIRE_PACKED_ROWS_H
#define LIB_STORE_WIRE_PACKED_ROWS_H

#include <stddef.h>

#include "scalar.h"
#include "trace/bytes/byte_buffer.h"

/*
 * CityHash128 of version 1.0.2, which ClickHouse uses as the checksum of its blocks; later versions
 * give other results. Inputs have at least 144 bytes: the algorithm for shorter ones is left out.
 */

#define CITY_HASH_BYTES_MIN 144

struct city_hash {
	u64 low, high;
};

/* `bytes` is at least CITY_HASH_BYTES_MIN. */
struct city_hash city_hash_128(const u8 *data, size_t bytes);

#define PACKED_BLOCK_BYTES (16U << 20)

/* Appends the blocks. 0; -ENODATA: too few bytes to pack, send them as they are; -ENOMEM. */
int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes);

#endif
