/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where debug information of a file is looked for: below each of several roots (a sysroot, the root
 * of a process in a container, our own), so that no symbolic link leads out of one. Only regular
 * files are opened; whether one is the right one its build id says.
 */
#ifndef LIB_SYMBOL_DEBUG_PATH_H
#define LIB_SYMBOL_DEBUG_PATH_H

#include <stdbool.h>

#include "scalar.h"

#define DEBUG_PATH_BYTES 4096
#define DEBUG_ROOTS_MAX 3

struct debug_roots {
	const char *root[DEBUG_ROOTS_MAX]; /* in this order; the last ones may be NULL */
};

/* Opens `path` below each root until accept() takes a file: its descriptor, or -ENOENT. */
int debug_path_open(const struct debug_roots *roots, const char *path,
		    bool (*accept)(void *arg, int file), void *arg);

#define DEBUG_PATH_FOLDER "/usr/lib/debug"

/* "/usr/lib/debug/.build-id/xx/yyy.debug", or false if it does not fit. */
bool debug_path_of_id(const u8 *build_id, u32 bytes, char *path);

/* The i-th path where the debug file that `path` links to may be, false behind the last. */
bool debug_path_of_link(u32 i, const char *path, const char *link, char *result);

#endif
