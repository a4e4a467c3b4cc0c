/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the frames of a recording, and of the files that they are in. They are found in
 * processes of their own (symbol/symbolizer/symbolizers.h), which the programs leave out as they do
 * the recorder. */
#ifndef LIB_CAPTURE_NAMING_H
#define LIB_CAPTURE_NAMING_H

#include <stdbool.h>

#include "stackmap/error.h"
#include "trace/write/writer.h"

struct capture;

/* Before everything else. */
int capture_prepare_naming(struct capture *capture);

/* Whether kptr_restrict shows kernel addresses to this instance. */
bool capture_addresses_shown(const struct capture *capture);

/* What a mapping is, once in each file: path, build id. */
int capture_write_mapping(struct capture *capture, struct trace_writer *writer, u32 number);

/* Writes what has become known of mappings since. Never waits. */
int capture_take_names(struct capture *capture, struct trace_writer *writer);

/* Nothing is in the file yet. */
void capture_forget_names(struct capture *capture);

/* Writes the symbol of every frame that went into the file. */
int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error);

#endif
