/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From options to a struct frame_naming. */
#include "names.h"

int names_open(const struct names_values *values, struct frame_naming *naming)
{
	*naming = (struct frame_naming){.mangled = values->no_demangle};
	return 0;
}

void names_close(struct frame_naming *naming)
{
	*naming = (struct frame_naming){};
}
