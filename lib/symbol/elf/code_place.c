/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A path is made of base, directory and file. The directory is used only if the file is relative,
 * the base only if the directory is relative. */
#include "code_place.h"

#include <string.h>

static bool is_relative_path(const char *path)
{
	return !path || path[0] != '/';
}

static size_t component_and_slash_bytes(const char *part)
{
	return part ? strlen(part) + 1 : 0;
}

size_t code_place_path(const struct code_place *place, char *path)
{
	const char *directory = is_relative_path(place->file) ? place->directory : NULL;
	const char *base =
		is_relative_path(place->file) && is_relative_path(directory) ? place->base : NULL;
	size_t bytes = component_and_slash_bytes(base) + component_and_slash_bytes(directory) +
		       component_and_slash_bytes(place->file);
	char *end = path;

	if (!place->file || bytes > CODE_PATH_BYTES)
		return 0;
	if (base)
		end = stpcpy(stpcpy(end, base), "/");
	if (directory)
		end = stpcpy(stpcpy(end, directory), "/");
	return stpcpy(end, place->file) - path;
}
