/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Debug information of the frames of a recording. All frames are looked up in one pass, file by
 * file, so each file is opened and read once. */
#ifndef LIB_REPORT_FRAME_DEBUG_H
#define LIB_REPORT_FRAME_DEBUG_H

#include "symbol/debuginfo/debug_lookup.h"
#include "symbol/elf/elf_layout.h"
#include "trace/read/reader.h"

/*
 * The segments of the ELF file of a mapping, derived from the functions of a recording: each
 * function has a file offset and the address that the file gives it. With the segments debug
 * information can be used when the file itself is gone.
 */

/* No segments if the recording has no addresses. Functions with equal address - offset form one
 * segment, with the code between them. */
void code_layout_find(const struct trace_reader *reader, u32 mapping, struct elf_segments *layout);

struct frame_debug;

/* -ENOMEM. */
int frame_debug_create(struct trace_reader *reader, struct debug_lookup *lookup,
		       struct frame_debug **out);
void frame_debug_free(struct frame_debug **debug);

/* Whether any frame has a name. */
bool frame_debug_found(const struct frame_debug *debug);

/* NULL: unknown. A return address is looked up by the byte before it. */
const struct debug_name *frame_debug_find(const struct frame_debug *debug, u64 frame,
					  bool return_address);

#endif
