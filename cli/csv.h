/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Comma-separated values as RFC 4180 has them, but for the ends of lines: those are ours. */
#ifndef CLI_CSV_H
#define CLI_CSV_H

#include <stdio.h>

/* One field. Control characters, which would end the line or reach a terminal, become `?`. */
void csv_put(const char *text, FILE *to);

#endif
