/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the frames of a recording. */
#ifndef LIB_CAPTURE_NAMING_H
#define LIB_CAPTURE_NAMING_H

#include "stackmap/error.h"
#include "trace/writer.h"

struct capture;

/* Writes the symbol of every frame that went into the file. */
int capture_name_frames(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error);

#endif
