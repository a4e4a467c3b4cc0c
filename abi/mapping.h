/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meaning of a mapping number in a user frame. Programs write a record when they first meet a
 * file, and its build id as soon as the build id can be read.
 *
 * The key is exact enough to be unique for ever: the system reuses inode numbers and process ids,
 * and files are rewritten in place.
 *
 *   MAPPING_FILE  device, inode, the inode's generation, and the file's modification time
 *   MAPPING_VDSO  1 for the vdso of 32-bit tasks, else 0
 *   MAPPING_ANON  the process, by its id and start time, and the upper address bits (JIT)
 */
#ifndef STACKMAP_ABI_MAPPING_H
#define STACKMAP_ABI_MAPPING_H

#include "scalar.h"

/* Numbers of the engine begin with 1; the last ones are those of scripts (script.h). */
#define MAPPINGS_MAX 8192
#define MAPPING_NONE 0 /* never given out */
#define MAPPING_UNKNOWN                                                                            \
	((1U << 23) - 1) /* the mapping could not be read: offset = low address bits */

enum mapping_kind { MAPPING_FREE = 0, MAPPING_FILE = 1, MAPPING_VDSO = 2, MAPPING_ANON = 3 };

#define MAPPING_PATH_BYTES 400
#define MAPPING_BUILD_ID_MAX 20
#define MAPPING_NO_BUILD_ID (~0U) /* as build_id_bytes: the file has none, or a longer one */

struct mapping_key {
	u64 device; /* kernel encoding: major << 20 | minor; 0 without a file */
	u64 inode;  /* MAPPING_ANON: tgid << 24 | address >> 40; MAPPING_VDSO: 1 for 32-bit tasks */
	u64 since;  /* MAPPING_FILE: FILE_WRITTEN(); MAPPING_ANON: start time of the process */
	u32 generation;
	u32 kind;
};
ABI_SIZE(struct mapping_key, 32);

/* A file's modification time as one number: 2^34 seconds last until the year 2514. */
#define FILE_WRITTEN(seconds, nanoseconds) ((u64)(seconds) << 30 | (nanoseconds))

struct mapping_record {
	struct mapping_key key;
	u32 tgid; /* process in which an event first met the mapping */
	/* failed attempts to read the build id: unreadable, or writable memory */
	u32 build_id_looks;
	u64 start; /* first address in that process */
	u64 end;
	u64 offset;	 /* file offset of `start` */
	u32 owner;	 /* id of the user whose server answers reads: owner of the file or mount */
	u32 file_system; /* magic number; 0: `owner` has mounted it in a user namespace */
	u8 build_id[MAPPING_BUILD_ID_MAX];
	u32 build_id_bytes; /* 0: not looked for, or not yet readable */
	u32 path_bytes;	    /* used bytes of path */
	u32 path_whole;	    /* 0: the path had more components than fit */
	u32 is_met; /* 0: no event has met the mapping, only the scan of running processes */
	u32 reserved;
	/*
	 * Components innermost first, each with its NUL: "libc.so.6\0x86_64-linux-gnu\0lib\0usr\0".
	 */
	u8 path[MAPPING_PATH_BYTES];
};
ABI_SIZE(struct mapping_record, 512);

#endif
