/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The libraries that ld.so knows by name (/etc/ld.so.cache). */
#ifndef LIB_CAPTURE_LIBRARY_CACHE_H
#define LIB_CAPTURE_LIBRARY_CACHE_H

#include <limits.h>
#include <stddef.h>

/* The path of a library by its soname ("libc.so.6") or short name ("libc"), or -ENOENT. */
int library_cache_find(const char *name, char path[PATH_MAX]);

/* The same, in the bytes of a cache. */
int library_cache_search(const void *cache, size_t bytes, const char *name, char path[PATH_MAX]);

#endif
