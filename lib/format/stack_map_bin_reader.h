/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the binary form of a stack map (abi/stack_map_bin.h): version 1 or 2, either byte order,
 * from a stream that need not be seekable. All contents are untrusted: the number of stacks is only
 * a hint, and no length in the file determines an allocation.
 */
#ifndef LIB_FORMAT_STACK_MAP_BIN_READER_H
#define LIB_FORMAT_STACK_MAP_BIN_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"
#include "stackmap/error.h"

/*
 * The most frames of a stack, which is more than any configuration of a kernel allows. A file with
 * a deeper stack is damaged.
 */
#define STACK_MAP_BIN_DEPTH_MAX 65536U

struct stack_map_bin_stack {
	u32 version; /* version of the file format */
	u32 id;
	u32 ref_count;
	u32 depth;
	bool truncated;
	const u64 *frames; /* frames, innermost first; valid until `each` returns */
};

/*
 * Calls `each` for every stack and returns its first non-zero value. -EBADMSG: the file is damaged
 * or cut off, and `each` has received the stacks before the damage; -EPROTONOSUPPORT: another
 * version; -ENOMEM; or the error of the read. The error has the offset.
 */
int stack_map_bin_read(FILE *from, int (*each)(void *arg, const struct stack_map_bin_stack *stack),
		       void *arg, struct stackmap_error *error);

#endif
