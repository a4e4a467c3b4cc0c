/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the code of a frame lies in a profile that has addresses, as pprof and OTLP do.
 *
 * User code of files has no address that holds for all processes: it is at its frame, mapping
 * number << 40 | offset, in a range of its own for each file, so addresses of two files never
 * meet. Kernel and generated code are where they were. Behind a call it is the last byte of the
 * call.
 */
#ifndef LIB_EXPORT_PROFILE_PLACE_H
#define LIB_EXPORT_PROFILE_PLACE_H

#include "event_stack.h"
#include "trace/read/reader.h"

/* Of a kernel module or a mapping. */
struct profile_range {
	u32 number; /* from 1 on, modules before mappings; 0: of none, and nothing else is set */
	u64 start, end;
	const char *path;			   /* belongs to the reader or the name */
	char build_id[2 * TRACE_BUILD_ID_MAX + 1]; /* in hexadecimal; "": not known */
};

struct profile_place {
	u64 address; /* 0: hidden */
	struct profile_range range;
};

struct profile_line {
	const char *function, *file; /* "": not known */
	u32 line;		     /* 0: not known */
};

/* `mapping` may be NULL. */
void profile_range_of(const struct trace_reader *reader, const struct trace_mapping *mapping,
		      struct profile_range *range);
void profile_place_of(const struct trace_reader *reader, const struct frame_name *name,
		      struct profile_place *place);

/* How many functions are at a frame, and the one with this number; what was inlined comes first. */
u32 profile_lines_at(const struct event_frame *frame);
struct profile_line profile_line_at(const struct event_frame *frame, u32 number);

#endif
