/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ClickHouse's RowBinary: values follow each other directly, numbers are little-endian, and the
 * length of a string or array precedes it as LEB128. LowCardinality(String) is sent as a String.
 * Writers append to a byte_buffer, readers take from a byte_cursor; both remember failures
 * (trace/bytes/byte_buffer.h).
 */
#ifndef LIB_STORE_WIRE_ROW_BINARY_H
#define LIB_STORE_WIRE_ROW_BINARY_H

#include <stddef.h>

#include "scalar.h"
#include "trace/bytes/byte_buffer.h"

void row_put_u8(struct byte_buffer *rows, u8 value);
void row_put_u16(struct byte_buffer *rows,
		 u16 value); /* appends a UInt16, or a Date as days since the epoch */
void row_put_u32(struct byte_buffer *rows, u32 value); /* appends a UInt32, or a DateTime */
void row_put_u64(struct byte_buffer *rows, u64 value);
void row_put_bytes(struct byte_buffer *rows, const void *bytes, size_t length); /* a FixedString */
void row_put_text(struct byte_buffer *rows, const char *text);
void row_put_count(struct byte_buffer *rows,
		   u64 count); /* Appends the length of an array; its items follow. */

u8 row_get_u8(struct byte_cursor *rows);
u16 row_get_u16(struct byte_cursor *rows);
u32 row_get_u32(struct byte_cursor *rows);
u64 row_get_u64(struct byte_cursor *rows);
/* Returns a pointer to the bytes in the rows; NULL, with `bad` set, if fewer bytes are left. */
const u8 *row_get_bytes(struct byte_cursor *rows, size_t length);
/*
 * Returns a string without copying it, not ended by NUL, and its length; "" and 0 if the string is
 * malformed.
 */
const char *row_get_text(struct byte_cursor *rows, size_t *length);
/* Returns a copy of a string, which the caller frees; "" if the string is malformed; NULL if memory
 * runs out. */
char *row_get_string(struct byte_cursor *rows);
/* Returns the length of an array, which never exceeds the number of bytes left. */
u64 row_get_count(struct byte_cursor *rows);

/*
 * Rows as ClickHouse's compressed blocks, which every version of the server accepts with
 * `decompress=1`. Old versions refuse zstd as an HTTP encoding, and gzip takes 1.7 times the bytes.
 *
 * A block has up to PACKED_BLOCK_BYTES of rows. The server stores no row of an incomplete block.
 */

/*
 * CityHash128 of version 1.0.2, which ClickHouse uses as the checksum of its blocks; later versions
 * give other results. Inputs must have at least 144 bytes: the algorithm for shorter inputs is left
 * out.
 */

#define CITY_HASH_BYTES_MIN 144

struct city_hash {
	u64 low, high;
};

/* Returns the hash of `bytes` bytes, which are at least CITY_HASH_BYTES_MIN. */
struct city_hash city_hash_128(const u8 *data, size_t bytes);

#define PACKED_BLOCK_BYTES (16U << 20)

/*
 * Appends rows as compressed blocks. 0; -ENODATA: there are too few bytes to compress, send them as
 * they are; -ENOMEM.
 */
int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes);

#endif
