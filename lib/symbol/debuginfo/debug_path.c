/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The places are those of gdb: beside the file, in its folder .debug, and below /usr/lib/debug. */
#include "debug_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbol/file/file_place.h"

#define DEBUG_FOLDER DEBUG_PATH_FOLDER

int debug_path_open(const struct debug_roots *roots, const char *path,
		    bool (*accept)(void *arg, int file), void *arg)
{
	for (u32 i = 0; i < DEBUG_ROOTS_MAX && roots->root[i]; i++) {
		int file = file_place_take(file_place_below_links(roots->root[i], path));

		if (file >= 0 && accept(arg, file))
			return file;
		if (file >= 0)
			close(file);
	}
	return -ENOENT;
}

static bool fits(int length)
{
	return length > 0 && length < DEBUG_PATH_BYTES;
}

bool debug_path_of_id(const u8 *build_id, u32 bytes, char *path)
{
	int length = sprintf(path, DEBUG_FOLDER "/.build-id/%02x/", build_id[0]);

	if (bytes < 2)
		return false;
	for (u32 i = 1; i < bytes; i++)
		length += sprintf(path + length, "%02x", build_id[i]);
	strcpy(path + length, ".debug");
	return true;
}

bool debug_path_of_link(u32 i, const char *path, const char *link, char *result)
{
	static const char *const before[] = {"", "", DEBUG_FOLDER};
	static const char *const between[] = {"/", "/.debug/", "/"};
	const char *slash = strrchr(path, '/');

	return i < sizeof(before) / sizeof(before[0]) && slash &&
	       fits(snprintf(result, DEBUG_PATH_BYTES, "%s%.*s%s%s", before[i], (int)(slash - path),
			     path, between[i], link));
}
