/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* "/proc/self/cmdline" has the words of the command line, each with a NUL after it; the quotes that
 * the user typed are gone.
 */
#include "command_line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the word is not empty, and has only characters that a shell takes literally wherever they
 * are in a word. */
static bool needs_no_quotes(const char *word)
{
	for (const char *at = word; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_-+./:,@%=^", *at) &&
		    (unsigned char)*at < 0x80)
			return false;
	return *word;
}

static void put_quoted_word(const char *word, FILE *to)
{
	if (needs_no_quotes(word)) {
		fputs(word, to);
		return;
	}
	putc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			putc(*word, to);
	putc('\'', to);
}

char *command_line_of(const char *words, size_t bytes)
{
	const char *end = words + bytes;
	char *line = NULL;
	size_t room;
	FILE *to = open_memstream(&line, &room);

	if (!to)
		return NULL;
	for (const char *word = words; word < end; word += strlen(word) + 1) {
		if (word > words)
			putc(' ', to);
		put_quoted_word(word, to);
	}
	if (fclose(to)) {
		free(line);
		return NULL;
	}
	return line;
}

char *command_line_read(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	char *words = NULL, *line;
	size_t room = 0;
	ssize_t bytes = file ? getdelim(&words, &room, EOF, file) : -1;

	if (file)
		fclose(file);
	line = bytes < 0 ? NULL : command_line_of(words, (size_t)bytes);
	free(words);
	return line;
}
