/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug information of the frames of a recording. All frames are looked up in one pass, file by
 * file, so each file is opened and read once. */
#ifndef LIB_REPORT_FRAME_DEBUG_H
#define LIB_REPORT_FRAME_DEBUG_H

#include "symbol/debuginfo/debug_lookup.h"
#include "trace/read/reader.h"

struct frame_debug;

/* -ENOMEM. */
int frame_debug_create(struct trace_reader *reader, struct debug_lookup *lookup,
		       struct frame_debug **out);
void frame_debug_free(struct frame_debug **debug);

/* NULL: unknown. A return address is looked up by the byte before it. */
const struct debug_name *frame_debug_find(const struct frame_debug *debug, u64 frame,
					  bool return_address);

#endif
