/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text file `mappings`: what the numbers in user frames stand for, and where the kernel was
 * loaded, so that binary dumps of stacks can be named on another machine.
 *
 *   kernel NAME 0xSTART-0xEND BUILD_ID     the image ("vmlinux") and each module
 *   NUMBER BUILD_ID PATH                   user code; the path goes on to the end of the line
 *
 * A build id is in hex, `-` where there is none. Backslashes in a path, and each byte of what is
 * not printable (printable.h; files of an instance: of all that is not ASCII), are written as \ooo.
 */
#ifndef LIB_FORMAT_MAPPINGS_READER_H
#define LIB_FORMAT_MAPPINGS_READER_H

#include <stdio.h>

#include "mapping.h"
#include "scalar.h"
#include "stackmap/error.h"

struct mappings;

/* What a line says. */
struct mapping_text {
	u32 number;	    /* of user code */
	char *path;	    /* of kernel code: its name */
	u64 start, end;	    /* of kernel code */
	u32 build_id_bytes; /* 0: none */
	u8 build_id[MAPPING_BUILD_ID_MAX];
};

/* -EBADMSG with the offset of the first line that is not one of these; -ENOMEM; or why reading
 * failed. */
int mappings_read(FILE *from, struct mappings **out, struct stackmap_error *error);
void mappings_free(struct mappings **mappings);

/* Or NULL. */
const struct mapping_text *mappings_find(const struct mappings *mappings, u32 number);
const char *mappings_path(const struct mappings *mappings, u32 number);

/* The kernel's image and its modules, in the order of the file. */
u32 mappings_kernel(const struct mappings *mappings, const struct mapping_text **lines);

/* Where _stext of the kernel image was; 0: not known. */
u64 mappings_kernel_start(const struct mappings *mappings);

#endif
