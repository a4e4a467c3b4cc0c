/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text of others (names of tasks, files and functions, arguments, versions) where it may reach a
 * terminal or ends up in lines of text. A terminal obeys control characters; bidirectional controls
 * show a name in an order that it does not have; characters without a picture make two names look
 * alike. Each of these is shown as `?`, and so is each byte that is not UTF-8.
 */
#ifndef LIB_FORMAT_PRINTABLE_H
#define LIB_FORMAT_PRINTABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "scalar.h"

enum printable {
	PRINTABLE,
	UNPRINTABLE,  /* a character that is not shown */
	NO_CHARACTER, /* a byte that is not UTF-8 */
};

/* What stands at `text`, which is not at its end, and the bytes of that: 1 to 4. */
enum printable printable_next(const char *text, u32 *bytes);

bool printable_is(const char *text);

/* Writes what stands at `text`, or `?` in its place; returns how many bytes of `text` that was. */
u32 printable_put_next(const char *text, FILE *to);
void printable_put(const char *text, FILE *to);

/* How many characters printable_put() writes. */
size_t printable_count(const char *text);

/* Writes at most `most` characters: a longer text loses its middle, in whose place stands "...".
 * `most` is 8 at least, or 0: no bound. */
void printable_put_cut(const char *text, size_t most, FILE *to);

/* In place; the text does not get longer. */
void printable_make(char *text);

#endif
