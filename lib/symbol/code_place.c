/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A part counts only where all that follow it are relative. */
#include "code_place.h"

#include <stdio.h>

static bool is_relative(const char *path)
{
	return !path || path[0] != '/';
}

size_t code_place_path(const struct code_place *place, char *path)
{
	const char *directory = is_relative(place->file) ? place->directory : NULL;
	const char *base = is_relative(place->file) && is_relative(directory) ? place->base : NULL;
	int length;

	if (!place->file)
		return 0;
	length = snprintf(path, CODE_PATH_BYTES, "%s%s%s%s%s", base ?: "", base ? "/" : "",
			  directory ?: "", directory ? "/" : "", place->file);
	return length > 0 && length < CODE_PATH_BYTES ? (size_t)length : 0;
}
