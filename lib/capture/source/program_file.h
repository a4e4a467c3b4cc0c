/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From what a person calls a program or library to its file. */
#ifndef LIB_CAPTURE_PROGRAM_FILE_H
#define LIB_CAPTURE_PROGRAM_FILE_H

#include <limits.h>
#include <stddef.h>

/* The real path of NAME: as it is when it has a slash, else a command ($PATH), else a library
 * (ld.so's cache). -ENOENT. */
int program_file_find(const char *name, char path[PATH_MAX]);

/* The path of a library by its soname ("libc.so.6") or short name ("libc"), in the bytes of a cache
 * of ld.so, or -ENOENT. */
int library_cache_search(const void *cache, size_t bytes, const char *name, char path[PATH_MAX]);

#endif
