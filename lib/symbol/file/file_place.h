/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of other users are opened in two steps: first with O_PATH ("place"), which has no effect on
 * a FIFO or a device, and for reading only once the file at the place is known to be the right one.
 */
#ifndef LIB_SYMBOL_FILE_PLACE_H
#define LIB_SYMBOL_FILE_PLACE_H

#include <stdbool.h>

#include "scalar.h"

/* Opens a path below the folder `root`. Returns an O_PATH descriptor, or -ENOENT. ".." does not
 * lead out of the root, and symbolic links are not followed. */
int file_place_open_below_root(const char *root, const char *path);

/* Like file_place_open_below_root(), but symbolic links are followed inside the root. */
int file_place_open_below_following_links(const char *root, const char *path);

/* Like file_place_open_below_root(), below a folder that is open already. */
int file_place_open_in_folder(int folder, const char *path);

/* Like file_place_open_below_root(), below the root of this process, if the kernel's cache holds
 * the whole path. No file system is asked, so the call does not wait for one. */
int file_place_open_if_cached(const char *path);

/* Opens the file of an O_PATH descriptor for reading; or -ENOENT. */
int file_place_open_for_reading(int place);

/* Opens the file of an O_PATH descriptor for reading if it is a regular file, and closes `place`.
 * `place` may be the -errno of a failed open. */
int file_place_open_regular_file(int place);

/* True if stat() gives another device than mappings of the file have: overlayfs hands mappings to
 * the layer below, btrfs numbers its subvolumes. The inode number is the same on both. */
bool does_file_system_hide_device(int place);

/* Returns how many files may be kept open: `most`, but at most 1/`part` of RLIMIT_NOFILE, and at
 * least 1. */
u32 file_open_limit(u32 most, u32 part);

#endif
