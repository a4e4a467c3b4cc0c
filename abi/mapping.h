/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a mapping number of a user frame stands for. The programs write a record when they first
 * meet a file, and its build id as soon as they can read it.
 *
 * The key says what is mapped so exactly that nothing else ever has the same one: an inode number
 * is used again, a file is written again in place, a process id is used again.
 *
 *   MAPPING_FILE  device, inode, its generation, and when it was last written
 *   MAPPING_VDSO  whether it is that of 32-bit tasks
 *   MAPPING_ANON  the process, by its id and start time, and the upper address bits (JIT)
 */
#ifndef STACKMAP_ABI_MAPPING_H
#define STACKMAP_ABI_MAPPING_H

#include "scalar.h"

#define MAPPINGS_MAX 8192 /* numbers of the engine: 1 .. MAPPINGS_MAX - 1 */
#define MAPPING_NONE 0	  /* never given out */
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
	u32 tgid;	    /* the process in which an event first met it */
	u32 build_id_looks; /* for nothing: what is mapped could not be read or may be written to */
	u64 start;	    /* where it was mapped there */
	u64 end;
	u64 offset;	 /* file offset of `start` */
	u32 owner;	 /* of a file: the user who decides how it answers */
	u32 file_system; /* its magic number; 0: its owner has mounted it, in a user namespace */
	u8 build_id[MAPPING_BUILD_ID_MAX];
	u32 build_id_bytes; /* 0: not looked for, or not readable yet */
	u32 path_bytes;	    /* used bytes of path */
	u32 path_whole;	    /* 0: the path had more components than fit */
	u32 is_met;	    /* 0: by no event; the process is one that was looked at before */
	u32 reserved;
	/* Components innermost first, each with its NUL: "libc.so.6\0x86_64-linux-gnu\0lib\0usr\0".
	 */
	u8 path[MAPPING_PATH_BYTES];
};
ABI_SIZE(struct mapping_record, 512);

#endif
