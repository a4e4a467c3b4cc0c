/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `stack_map_bin`: all stacks of a map, native-endian. The file has a
 * header, then for each stack a record and depth x u64 frames, innermost first.
 * `count` is the number of stacks when the read began; later stacks follow, so
 * readers read to the end of the file.
 */
#ifndef _TRACE_STACKMAP_STACK_MAP_BIN_H
#define _TRACE_STACKMAP_STACK_MAP_BIN_H

#include <linux/build_bug.h>
#include <linux/types.h>

#define STACKID_MAP_BIN_MAGIC 0x464D5342U
#define STACKID_MAP_BIN_VERSION 2U

struct stackid_map_bin_header {
	u32 magic;
	u32 version;
	u32 count;
	u32 reserved;
};

static_assert(sizeof(struct stackid_map_bin_header) == 16);

struct stackid_map_bin_record {
	u32 stack_id;
	u32 depth;
	u32 ref_count; /* clamped to 2^32 - 1 */
	u32 flags;     /* bit 0: truncated */
};

static_assert(sizeof(struct stackid_map_bin_record) == 16);

#endif
