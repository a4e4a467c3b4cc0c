/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of other users are walked to first (O_PATH), which has no effect on a FIFO or a device;
 * only what turns out to be the one that is meant is opened for reading.
 */
#ifndef LIB_SYMBOL_FILE_PLACE_H
#define LIB_SYMBOL_FILE_PLACE_H

#include <stdbool.h>

/* The place of a path below a root that no ".." leads out of; symbolic links are not followed. An
 * O_PATH descriptor, or -ENOENT. */
int file_place_below(const char *root, const char *path);

/* The same, with links followed, as of that root. */
int file_place_below_links(const char *root, const char *path);

/* The same below an open folder. */
int file_place_in(int folder, const char *path);

/* The same below our own root, if all of the path is in the kernel's cache: no file system is
 * asked, so none can keep us waiting. */
int file_place_cached(const char *path);

/* The file there, open for reading; or -ENOENT. */
int file_place_read(int place);

/* The same, if it is a regular one. Closes the place, which may be an error. */
int file_place_take(int place);

/* stat() gives another device than a mapping of the file has: overlayfs hands mappings to the layer
 * below, btrfs numbers its subvolumes. The inode number is that of the mapping on both. */
bool file_place_hides_device(int place);

#endif
