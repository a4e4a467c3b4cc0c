/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dpkg keeps a list of paths for each package, one path a line: PACKAGE.list, or
 * PACKAGE:ARCHITECTURE.list. If /lib is a link to /usr/lib, the list of a package that installs
 * into /lib has the path without /usr.
 */
#include "debian_package.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"

#define SUFFIX ".list"
#define PATH_BYTES 4096

static bool contains_line(const char *text, const char *line)
{
	size_t length = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += length)
		if ((at == text || at[-1] == '\n') && at[length] == '\n')
			return true;
	return false;
}

static bool package_lists_path(const char *list, const char *path)
{
	const char *merged = strncmp(path, "/usr/", strlen("/usr/")) ? path : path + strlen("/usr");
	size_t bytes;
	char *text;
	bool found;

	if (whole_file_read(list, &text, &bytes))
		return false;
	found = contains_line(text, path) || contains_line(text, merged);
	free(text);
	return found;
}

bool debian_package_of(const char *lists, const char *path, char name[DEBIAN_PACKAGE_BYTES])
{
	DIR *folder = path[0] == '/' && !strchr(path, '\n') ? opendir(lists) : NULL;
	struct dirent *entry;
	char list[PATH_BYTES];
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		int length = (int)strlen(entry->d_name) - (int)strlen(SUFFIX);

		if (length <= 0 || strcmp(entry->d_name + length, SUFFIX) ||
		    snprintf(list, sizeof(list), "%s/%s", lists, entry->d_name) >=
			    (int)sizeof(list) ||
		    !package_lists_path(list, path))
			continue;
		snprintf(name, DEBIAN_PACKAGE_BYTES, "%.*s", length, entry->d_name);
		name[strcspn(name, ":")] = 0;
		found = true;
	}
	if (folder)
		closedir(folder);
	return found;
}
