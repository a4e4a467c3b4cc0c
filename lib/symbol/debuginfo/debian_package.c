/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dpkg has a list of paths for each package, a line each: PACKAGE.list, or
 * PACKAGE:ARCHITECTURE.list. A package may have a file in /lib, where a machine has a link to
 * /usr/lib: then its list does not say /usr.
 */
#include "debian_package.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/file/whole_file.h"

#define SUFFIX ".list"
#define PATH_BYTES 4096

static bool has_line(const char *text, const char *line)
{
	size_t length = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += length)
		if ((at == text || at[-1] == '\n') && at[length] == '\n')
			return true;
	return false;
}

static bool lists_path(const char *list, const char *path)
{
	const char *merged = strncmp(path, "/usr/", strlen("/usr/")) ? path : path + strlen("/usr");
	size_t bytes;
	char *text;
	bool found;

	if (whole_file_read(list, &text, &bytes))
		return false;
	found = has_line(text, path) || has_line(text, merged);
	free(text);
	return found;
}

static bool is_list(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && !strcmp(name + length - strlen(SUFFIX), SUFFIX);
}

static bool search_folder(DIR *folder, const char *lists, const char *path,
			  char name[DEBIAN_PACKAGE_BYTES])
{
	struct dirent *entry;
	char list[PATH_BYTES];

	while ((entry = readdir(folder))) {
		if (!is_list(entry->d_name) ||
		    snprintf(list, sizeof(list), "%s/%s", lists, entry->d_name) >=
			    (int)sizeof(list) ||
		    !lists_path(list, path))
			continue;
		snprintf(name, DEBIAN_PACKAGE_BYTES, "%.*s",
			 (int)(strlen(entry->d_name) - strlen(SUFFIX)), entry->d_name);
		name[strcspn(name, ":")] = 0;
		return true;
	}
	return false;
}

bool debian_package_of(const char *lists, const char *path, char name[DEBIAN_PACKAGE_BYTES])
{
	DIR *folder = path[0] == '/' && !strchr(path, '\n') ? opendir(lists) : NULL;
	bool found;

	if (!folder)
		return false;
	found = search_folder(folder, lists, path, name);
	closedir(folder);
	return found;
}
