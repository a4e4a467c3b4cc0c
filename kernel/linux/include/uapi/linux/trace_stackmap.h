/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * The file stack_map_bin of a trace instance, in the byte order of the machine:
 * a header, then for each stack a record and its frames (__u64, innermost
 * first). The count in the header is that of the stacks when the read began.
 * Later stacks follow, so a program reads to the end of the file.
 *
 * A frame is a kernel address (bit 63 is set), or the number of a mapping in
 * bits 40 to 62, see stack_map_mappings, and an offset in bits 0 to 39. If all
 * bits of the number are set, the mapping is unknown, and the offset is the
 * lower part of the address.
 */
#ifndef _UAPI_LINUX_TRACE_STACKMAP_H
#define _UAPI_LINUX_TRACE_STACKMAP_H

#include <linux/types.h>

#define TRACE_STACKMAP_BIN_MAGIC 0x464D5342U
#define TRACE_STACKMAP_BIN_VERSION 2U

struct trace_stackmap_bin_header {
	__u32 magic;
	__u32 version;
	__u32 count;
	__u32 reserved;
};

struct trace_stackmap_bin_record {
	__u32 stack_id;
	__u32 depth;
	__u32 ref_count;	/* clamped to 2^32 - 1 */
	__u32 flags;	/* bit 0: there may be more frames */
};

#endif
