/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A terminal that says it is dumb gets neither, as it cannot go back on a line. */
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool terminal_progress(FILE *stream)
{
	const char *term = getenv("TERM");

	return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

bool terminal_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");

	return terminal_progress(stream) && !(no_color && *no_color);
}
