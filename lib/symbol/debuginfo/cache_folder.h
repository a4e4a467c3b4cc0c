/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of ours that may go at any time, in $XDG_CACHE_HOME/stackmap/debug, or below ~/.cache.
 * Folders and files count only if they are the caller's and nobody else may write them. Nothing
 * here is worth an error: a caller without a cache does the work again.
 */
#ifndef LIB_SYMBOL_CACHE_FOLDER_H
#define LIB_SYMBOL_CACHE_FOLDER_H

#include <stddef.h>

#include "scalar.h"

/* Makes it where it is missing. A descriptor, or -errno. */
int cache_folder_open(void);

/* The whole of a file that is not larger than `bytes_max`, for the caller to free, and notes that
 * it was used; -errno: there is none to rely on. */
int cache_folder_read(int folder, const char *name, size_t bytes_max, char **data, size_t *bytes);

/* In one step for whoever reads it; the old one stays where this fails. 0 or -errno. */
int cache_folder_replace(int folder, const char *name, const void *data, size_t bytes);

/* Removes what was not used for longest until the rest has no more than `bytes_max`. */
void cache_folder_trim(int folder, u64 bytes_max);

#endif
