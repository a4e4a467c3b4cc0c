/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of export formats, in the order in which the user sees them. */
#include "format.h"

#include <string.h>

const struct format *const formats[] = {
	&folded_format, &json_format, &stack_map_bin_format, &mappings_format, NULL,
};

const struct format *format_find(const char *name)
{
	for (const struct format *const *format = formats; *format; format++)
		if (strcmp((*format)->name, name) == 0)
			return *format;
	return NULL;
}
