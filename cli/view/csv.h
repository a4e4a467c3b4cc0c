/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comma-separated values by RFC 4180, except that lines end with LF. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdio.h>

/* Prints `comma` ("" for the first field of a line) and a text field. Unprintable bytes become `?`;
 * a text that a spreadsheet would evaluate as a formula gets a leading `'`. */
void csv_put(const char *comma, const char *text, FILE *to);

#endif
