/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of resolutions: of deferred stacks the stack, or the reason why there is none, and the
 * leaf in front of it. Placeholders are differences to the one before, and so are leaves.
 */
#ifndef LIB_TRACE_RESOLUTION_BLOCK_H
#define LIB_TRACE_RESOLUTION_BLOCK_H

#include "arena.h"
#include "trace/block/block.h"
#include "trace/bytes/number_column.h"
#include "trace/event.h"

struct resolution_encoder {
	struct block_builder builder;
	struct number_writer leaf_column;
	u32 placeholder; /* of the record before; so is the next one */
	u64 leaf;
	u32 newest; /* the highest stack index in the block so far */
};

void resolution_encoder_init(struct resolution_encoder *encoder);
void resolution_encoder_clear(struct resolution_encoder *encoder); /* begins the next block */
void resolution_encoder_free(struct resolution_encoder *encoder);
void resolution_encoder_add(struct resolution_encoder *encoder, u32 placeholder,
			    const struct trace_resolution *resolution);
/* The builder is whole; encoder_clear is next. */
const struct block_builder *resolution_encoder_finish(struct resolution_encoder *encoder);

/* Appends header.records struct trace_resolution to `resolutions` and notes with each placeholder
 * among `stacks` which one is its own. -EBADMSG also when one is of no placeholder, of one
 * that has a resolution, or names a placeholder; -ENOMEM also at the arena's limit. */
int resolution_block_decode(struct block_view *view, struct arena *arena,
			    struct arena_array *stacks, struct arena_array *resolutions);

#endif
