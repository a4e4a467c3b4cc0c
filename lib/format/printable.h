/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Untrusted text (names of tasks, files and functions, arguments, versions) that may reach a
 * terminal or lines of text. A terminal interprets control characters; bidirectional controls show
 * a name in a wrong order; invisible characters make two names look alike. Each of these characters
 * is shown as `?`, and so is each byte that is not UTF-8.
 */
#ifndef LIB_FORMAT_PRINTABLE_H
#define LIB_FORMAT_PRINTABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"

enum printable {
	PRINTABLE,
	UNPRINTABLE,  /* a character that is replaced, as it is not printable */
	NO_CHARACTER, /* a byte that is not part of a UTF-8 character */
};

/*
 * Classifies the character at `text`, which must not be the terminating NUL. Sets *bytes to the
 * length of the character, 1 to 4.
 */
enum printable classify_next_character(const char *text, u32 *bytes);

bool is_text_printable(const char *text);

/* Writes the character at `text`, or `?` in its place. Returns the length in bytes of the character
 * in `text`. */
u32 printable_put_next(const char *text, FILE *to);
void printable_put(const char *text, FILE *to);

/* Returns the number of characters that printable_put() writes for a text. */
size_t printable_count(const char *text);

/*
 * Writes at most `most` characters: "..." replaces the middle of a longer text. `most` is at least
 * 8, or 0: no limit.
 */
void printable_put_cut(const char *text, size_t most, FILE *to);

/* Replaces unprintable characters in the text itself, which does not get longer. */
void replace_unprintable_bytes(char *text);

#endif
