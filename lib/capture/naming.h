/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the frames of a recording, and of the files that they are in. The parsing is done in a
 * process of its own (symbol/naming.h), which the programs leave out as they do the recorder. */
#ifndef LIB_CAPTURE_NAMING_H
#define LIB_CAPTURE_NAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "stackmap/error.h"
#include "trace/writer.h"

struct capture;

/* Before everything else. */
int capture_prepare_naming(struct capture *capture);

/* Whether kptr_restrict shows kernel addresses to this instance. */
bool capture_addresses_shown(const struct capture *capture);

/* What the file says of a mapping: path, build id. */
void capture_identify_mapping(struct capture *capture, u32 number, struct trace_mapping *mapping,
			      char *path, size_t path_bytes);

/* Writes the symbol of every frame that went into the file. */
int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error);

#endif
