/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comma-separated values as RFC 4180 has them, but for the ends of lines: those are ours. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdio.h>

/* One field of text, behind `comma`: "" before the first one of a line. What is not printable
 * becomes `?`; what a spreadsheet would take for a formula begins with `'`. */
void csv_put(const char *comma, const char *text, FILE *to);

#endif
