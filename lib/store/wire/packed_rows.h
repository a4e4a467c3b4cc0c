/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows as ClickHouse's own compressed blocks, which every version takes with `decompress=1`; zstd
 * as an encoding of HTTP is refused by old ones, and gzip costs 1.7 times the bytes.
 *
 * Up to PACKED_BLOCK_BYTES are one block. Of a body that is cut short no row of an incomplete block
 * is stored.
 */
#ifndef LIB_STORE_WIRE_PACKED_ROWS_H
#define LIB_STORE_WIRE_PACKED_ROWS_H

#include "trace/bytes/byte_buffer.h"

#define PACKED_BLOCK_BYTES (16U << 20)

/* Appends the blocks. 0; -ENODATA: so few bytes are sent as they are; -ENOMEM. */
int packed_rows_append(struct byte_buffer *packed, const void *rows, size_t bytes);

#endif
