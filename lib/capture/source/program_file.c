/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bare name is looked for where the system would: a command along $PATH, then a library by its
 * soname among those that ld.so knows.
 */
#include "program_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library_cache.h"

static int find_command(const char *name, char path[PATH_MAX])
{
	const char *directory = getenv("PATH");
	char candidate[PATH_MAX];

	while (directory && *directory) {
		int length = (int)strcspn(directory, ":");

		snprintf(candidate, sizeof(candidate), "%.*s/%s", length, directory, name);
		if (access(candidate, X_OK) == 0 && realpath(candidate, path))
			return 0;
		directory += length + (directory[length] == ':');
	}
	return -ENOENT;
}

static int find_library(const char *name, char path[PATH_MAX])
{
	char candidate[PATH_MAX];
	int err = library_cache_find(name, candidate);

	if (err)
		return err;
	return realpath(candidate, path) ? 0 : -errno;
}

int program_file_find(const char *name, char path[PATH_MAX])
{
	if (strchr(name, '/'))
		return realpath(name, path) ? 0 : -errno;
	return find_command(name, path) == 0 ? 0 : find_library(name, path);
}
