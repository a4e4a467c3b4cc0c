/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A column of 64-bit numbers, most of them small. Each number has a code byte, which holds the
 * number's magnitude and the three bits after the leading 1; the remaining bits are in a stream of
 * bits. See abi/trace_file.h. The split lets the compressor spend its time where there is
 * redundancy: some codes are much more frequent than others, and the remaining bits are noise.
 */
#ifndef LIB_TRACE_NUMBER_COLUMN_H
#define LIB_TRACE_NUMBER_COLUMN_H

#include "trace/bytes/byte_buffer.h"

struct number_writer {
	struct byte_buffer *codes;
	struct byte_buffer *bits;
	u64 pending;	   /* bits that do not fill a byte yet, lowest first */
	u32 pending_count; /* number of bits in `pending`; less than 8 between calls */
};

void number_writer_put(struct number_writer *writer, u64 number);
void number_writer_finish(struct number_writer *writer);

struct number_reader {
	struct byte_cursor codes;
	struct byte_cursor bits;
	u64 pending;
	u32 pending_count;
	bool bad;
};

u64 number_reader_get(struct number_reader *reader); /* returns 0 after a failure */
/* True if the whole column was read: no number was invalid, and no bytes are left. */
bool number_reader_done(const struct number_reader *reader);

#endif
