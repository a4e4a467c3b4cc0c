/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One block of a recording (abi/trace_file.h): a builder collects columns, a sealer turns the
 * columns into the bytes of the file, and a view has the columns of a checked block. event_block.h,
 * stack_block.h and record_block.h define the contents of the columns.
 */
#ifndef LIB_TRACE_BLOCK_H
#define LIB_TRACE_BLOCK_H

#include "stackmap/error.h"
#include "trace/bytes/byte_buffer.h"
#include "trace_file.h"

struct block_builder {
	u8 type; /* type of the block: enum trace_block_type */
	u16 cpu;
	u32 columns;
	u32 records;
	u64 first_time;
	u64 last_time;
	struct byte_buffer column[TRACE_BLOCK_COLUMNS_MAX];
};

size_t block_builder_bytes(const struct block_builder *builder);
/* empties the builder and keeps its memory */
void block_builder_clear(struct block_builder *builder);
void block_builder_free(struct block_builder *builder);

struct block_sealer;

int block_sealer_create(struct block_sealer **out);
void block_sealer_free(struct block_sealer **sealer);

/* Sets *bytes to the bytes of the block, valid until the next call. */
int block_seal(struct block_sealer *sealer, const struct block_builder *builder, u32 sequence,
	       const u8 **bytes, size_t *count);

struct block_view {
	struct trace_block_header header;
	struct byte_cursor column[TRACE_BLOCK_COLUMNS_MAX];
};

struct block_opener;

int block_opener_create(struct block_opener **out);
void block_opener_free(struct block_opener **opener);

/* Reads and checks the block at `offset` of a file that ends at `end`: -EBADMSG with the reason,
 * -ENOMEM, or the error of pread(). Fills in the header only. */
int block_load(struct block_opener *opener, int fd, u64 offset, u64 end,
	       struct trace_block_header *header, struct stackmap_error *error);

/* Sets *view to the columns of the block that was loaded last, valid until the next call. */
int block_open(struct block_opener *opener, u64 offset, struct block_view *view,
	       struct stackmap_error *error);

#endif
