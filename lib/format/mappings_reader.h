/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text file `mappings`: the files that the numbers in user frames stand for, and the load
 * address of the kernel. With it, binary dumps of stacks can be symbolized on another machine.
 *
 *   kernel NAME 0xSTART-0xEND BUILD_ID     the image ("vmlinux") and each module
 *   NUMBER BUILD_ID PATH                   user code; the path goes on to the end of the line
 *
 * A build id is in hex; `-` means no build id. Backslashes in a path, and each byte of unprintable
 * characters (printable.h; in files of an instance: of all non-ASCII characters), are written as
 * \ooo.
 */
#ifndef LIB_FORMAT_MAPPINGS_READER_H
#define LIB_FORMAT_MAPPINGS_READER_H

#include <stdio.h>

#include "mapping.h"
#include "scalar.h"
#include "stackmap/error.h"

struct mappings;

/* The contents of a line. */
struct mapping_text {
	u32 number;	    /* mapping number of user code */
	char *path;	    /* path of user code, name of kernel code */
	u64 start, end;	    /* address range of kernel code */
	u32 build_id_bytes; /* 0: no build id */
	u8 build_id[MAPPING_BUILD_ID_MAX];
};

/* -EBADMSG with the offset of the first invalid line; -ENOMEM; or the error of the read. */
int mappings_read(FILE *from, struct mappings **out, struct stackmap_error *error);
void mappings_free(struct mappings **mappings);

/* Looks up a mapping number. NULL: no line has it. */
const struct mapping_text *mappings_find(const struct mappings *mappings, u32 number);
const char *mappings_path(const struct mappings *mappings, u32 number);

/* The kernel's image and its modules, in the order of the file. */
u32 mappings_kernel(const struct mappings *mappings, const struct mapping_text **lines);

/* The address of _stext in the kernel image; 0: unknown. */
u64 mappings_kernel_start(const struct mappings *mappings);

#endif
