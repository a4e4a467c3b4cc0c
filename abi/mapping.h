/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a mapping number of a user frame stands for. The programs write a record when they first
 * meet a file; its build id is read by user space, from the file itself.
 *
 * The identity is {device, inode, inode generation} for a file, and {task group, upper address
 * bits} for code without one (JIT).
 */
#ifndef STACKMAP_ABI_MAPPING_H
#define STACKMAP_ABI_MAPPING_H

#include "scalar.h"

#define MAPPINGS_MAX 8192 /* numbers of the engine: 1 .. MAPPINGS_MAX - 1 */
#define MAPPING_NONE 0	  /* never given out */
#define MAPPING_UNKNOWN                                                                            \
	((1U << 23) - 1) /* the mapping could not be read: offset = low address bits */

enum mapping_kind { MAPPING_FREE = 0, MAPPING_FILE = 1, MAPPING_VDSO = 2, MAPPING_ANON = 3 };

#define MAPPING_PATH_BYTES 448

struct mapping_key {
	u64 device; /* kernel encoding: major << 20 | minor; 0 without a file */
	u64 inode;  /* MAPPING_ANON: tgid << 24 | address >> 40 */
	u32 generation;
	u32 kind;
};
ABI_SIZE(struct mapping_key, 24);

struct mapping_record {
	struct mapping_key key;
	u32 tgid; /* the process in which it was first seen */
	u32 reserved;
	u64 start; /* where it was mapped there */
	u64 end;
	u64 offset;	/* file offset of `start` */
	u32 path_bytes; /* used bytes of path */
	u32 path_whole; /* 0: the path had more components than fit */
	/* Components innermost first, each with its NUL: "libc.so.6\0x86_64-linux-gnu\0lib\0usr\0".
	 */
	u8 path[MAPPING_PATH_BYTES];
};
ABI_SIZE(struct mapping_record, 512);

#endif
