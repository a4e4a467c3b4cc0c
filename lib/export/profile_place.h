/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses and lines of frames, for the formats that have addresses (pprof and OTLP).
 *
 * User code of a file has no address that holds for all processes. Its address here is the frame,
 * mapping number << 40 | offset, in a range of its own for each file, so addresses of two files
 * never meet. Kernel and generated code keep their addresses. The address of a return address is
 * the last byte of the call.
 */
#ifndef LIB_EXPORT_PROFILE_PLACE_H
#define LIB_EXPORT_PROFILE_PLACE_H

#include "event_stack.h"
#include "trace/read/reader.h"

/* The address range of a kernel module or a mapping. */
struct profile_range {
	u32 number; /* from 1 on, modules before mappings; 0: no range, all other members are zero
		     */
	u64 start, end;
	const char *path;			   /* belongs to the reader or the name */
	char build_id[2 * TRACE_BUILD_ID_MAX + 1]; /* hexadecimal digits; "": unknown */
};

struct profile_place {
	u64 address; /* 0: hidden */
	struct profile_range range;
};

struct profile_line {
	const char *function, *file; /* "": not known */
	u32 line;		     /* 0: not known */
};

/* `mapping` NULL gives the range with number 0. */
void profile_range_of(const struct trace_reader *reader, const struct trace_mapping *mapping,
		      struct profile_range *range);
void profile_place_of(const struct trace_reader *reader, const struct frame_name *name,
		      struct profile_place *place);

/* The number of functions at a frame, and the function with an index below that; inlined
 * functions come first. */
u32 profile_lines_at(const struct event_frame *frame);
struct profile_line profile_line_at(const struct event_frame *frame, u32 number);

#endif
