/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the binary form of a stack map (abi/stack_map_bin.h): version 1 or 2, either byte order,
 * from a stream that need not be seekable. Nothing in it is trusted: the number of stacks is only a
 * hint, and no length decides what is allocated.
 */
#ifndef LIB_FORMAT_STACK_MAP_BIN_READER_H
#define LIB_FORMAT_STACK_MAP_BIN_READER_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"
#include "stackmap/error.h"

/* Deeper than any stack that a kernel can be told to take: a greater depth is damage. */
#define STACK_MAP_BIN_DEPTH_MAX 65536U

struct stack_map_bin_stack {
	u32 version; /* of the file */
	u32 id;
	u32 ref_count;
	u32 depth;
	bool truncated;
	const u64 *frames; /* innermost first; until `each` returns */
};

/*
 * Calls `each` for every stack and returns its first non-zero value. -EBADMSG: damaged or cut off,
 * after what was whole has been given out; -EPROTONOSUPPORT: another version; -ENOMEM; or why
 * reading failed. The error has the offset.
 */
int stack_map_bin_read(FILE *from, int (*each)(void *arg, const struct stack_map_bin_stack *stack),
		       void *arg, struct stackmap_error *error);

#endif
