/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text file `mappings`: the files that the mapping numbers in user frames stand for, and the
 * load addresses of the kernel and its modules. With this file, binary dumps of stacks can be
 * symbolized on another machine.
 *
 *   kernel NAME 0xSTART-0xEND BUILD_ID     the image ("vmlinux") and each module
 *   NUMBER BUILD_ID PATH                   user code; the path goes on to the end of the line
 *
 * A build id is in hex; `-` means no build id. Backslashes in a path, and each byte of unprintable
 * characters (printable.h; in files of an instance: of all non-ASCII characters), are written as
 * \ooo.
 */
#ifndef LIB_FORMAT_MAPPINGS_TEXT_H
#define LIB_FORMAT_MAPPINGS_TEXT_H

#include <stdio.h>

#include "scalar.h"
#include "stackmap/error.h"
#include "trace/event.h"

struct mappings;

/* Reads a file. -EBADMSG with the offset of the first invalid line; -ENOMEM; or the error of the
 * read. */
int mappings_read(FILE *from, struct mappings **out, struct stackmap_error *error);
void mappings_free(struct mappings **mappings);

/* Looks up a mapping number: its path and build id. NULL: no line has the number. */
const struct trace_mapping *mappings_find(const struct mappings *mappings, u32 number);
const char *mappings_path(const struct mappings *mappings, u32 number);

/* Gives the kernel's image and its modules, in the order of the file. */
u32 mappings_kernel_modules(const struct mappings *mappings, const struct trace_module **modules);

/* Returns the address of _stext in the kernel image; 0: unknown. */
u64 mappings_kernel_start(const struct mappings *mappings);

/* Both functions write a line without its newline: the line of the kernel or one of its modules,
 * and the line of a user mapping. */
void mappings_put_module(const struct trace_module *module, FILE *to);
void mappings_put_mapping(const struct trace_mapping *mapping, FILE *to);

#endif
