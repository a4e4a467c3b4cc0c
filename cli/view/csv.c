/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A field is quoted if it has a comma or a quote, or a space at either end.
 *
 * A spreadsheet evaluates a cell as a formula if the cell begins with one of a few characters, and
 * names are untrusted. Such a cell gets a leading `'`. A cell that already begins with `'` gets a
 * second one, so removing the first `'` always restores the name. Some spreadsheets separate cells
 * at `;`, so every frame of a path is treated as the beginning of a cell.
 */
#include "csv.h"

#include <stdbool.h>
#include <string.h>

#include "format/printable.h"

/* Full-width characters and leading spaces count, too, because some spreadsheets accept them. */
static bool may_be_spreadsheet_formula(const char *text)
{
	static const char *const begins[] = {"=",      "+",	 "-",	   "@",	    "'",
					     "\uff1d", "\uff0b", "\uff0d", "\uff20"};

	text += strspn(text, " ");
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

void csv_put(const char *comma, const char *text, FILE *to)
{
	size_t length = strlen(text);
	bool needs_quotes =
		strpbrk(text, ",\"") || text[0] == ' ' || (length && text[length - 1] == ' ');
	const char *quote = needs_quotes ? "\"" : "";
	bool is_first = true;

	fprintf(to, "%s%s", comma, quote);
	while (*text) {
		if (is_first && may_be_spreadsheet_formula(text))
			fputc('\'', to);
		if (*text == '"')
			fputc('"', to);
		is_first = *text == ';';
		text += printable_put_next(text, to);
	}
	fputs(quote, to);
}
