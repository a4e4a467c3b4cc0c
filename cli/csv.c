/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A field is quoted when it has a comma, a quote or a space at either end. */
#include "csv.h"

#include <stdbool.h>
#include <string.h>

#include "terminal.h"

static bool needs_quotes(const char *text)
{
	size_t length = strlen(text);

	return strpbrk(text, ",\"") || text[0] == ' ' || (length && text[length - 1] == ' ');
}

void csv_put(const char *text, FILE *to)
{
	if (!needs_quotes(text)) {
		terminal_put_name(text, to);
		return;
	}
	fputc('"', to);
	for (; *text; text++) {
		terminal_put_name((char[]){*text, '\0'}, to);
		if (*text == '"')
			fputc('"', to);
	}
	fputc('"', to);
}
