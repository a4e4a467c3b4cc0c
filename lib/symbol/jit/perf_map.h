/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of generated code in /tmp/perf-PID.map: lines "START SIZE NAME", numbers in hexadecimal
 * with or without 0x, the name the rest of the line. The runtime appends lines.
 */
#ifndef LIB_SYMBOL_PERF_MAP_H
#define LIB_SYMBOL_PERF_MAP_H

#include "generated_code.h"

/* The number of lines that are read; of a longer map the last ones. */
#define PERF_MAP_LINES_MAX (1U << 20)

/* Adds the functions of all lines. The text may hold any bytes; lines that make no sense are left
 * out. 0, -ENOMEM or -E2BIG. */
int perf_map_parse(const char *text, size_t bytes, struct generated_code *code);

/* Adds the functions of an open perf map, which is read from its beginning; as perf_map_parse(). */
int perf_map_read_open(int fd, struct generated_code *code);

#endif
