/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows as ClickHouse's compressed blocks, which every version accepts with `decompress=1`. Old
 * versions refuse zstd as an HTTP encoding, and gzip takes 1.7 times the bytes.
 *
 * A block has up to PACKED_BLOCK_BYTES of rows. The server stores no row of an incomplete block.
 */
#ifndef LIB_STORE_WIRE_PACKED_ROWS_H
#define LIB_STORE_WIRE_PACKED_ROWS_H

#include "trace/bytes/byte_buffer.h"

#define PACKED_BLOCK_BYTES (16U << 20)

/* Appends the blocks. 0; -ENODATA: too few bytes to pack, send them as they are; -ENOMEM. */
int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes);

#endif
