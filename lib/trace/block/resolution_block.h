/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A block of resolutions: each has a placeholder, its stack or the reason of its absence, and the
 * leaf in front of the stack. Placeholders and leaves are differences to the record before.
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
	u32 placeholder; /* of the record before, like `leaf` */
	u64 leaf;
	u32 newest; /* the highest stack index in the block so far */
};

void resolution_encoder_init(struct resolution_encoder *encoder);
void resolution_encoder_clear(struct resolution_encoder *encoder); /* begins the next block */
void resolution_encoder_free(struct resolution_encoder *encoder);
void resolution_encoder_add(struct resolution_encoder *encoder, u32 placeholder,
			    const struct trace_resolution *resolution);
/* Completes the block; the caller then calls resolution_encoder_clear(). */
const struct block_builder *resolution_encoder_finish(struct resolution_encoder *encoder);

/* Appends header.records struct trace_resolution to `resolutions` and stores the number of each
 * with its placeholder among `stacks`. -EBADMSG also if a resolution is not for a placeholder, is
 * the second of its placeholder, or names a placeholder; -ENOMEM also at the arena's limit. */
int resolution_block_decode(struct block_view *view, struct arena *arena,
			    struct arena_array *stacks, struct arena_array *resolutions);

#endif
