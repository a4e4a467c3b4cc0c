/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output (output/output.h) that is made for others to read, as a stream: there whole, or not at
 * all. Standard output is called "-".
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "stackmap/error.h"

bool output_file_is_standard(const char *path);

/* One at a time. 0 and *stream, or -errno: *stream has no meaning. */
int output_file_open(const char *path, FILE **stream, struct stackmap_error *error);

/* Puts the file in its place, or removes it unless `keep`. -errno: nothing is left. Bytes that
 * could not be written are an error in any case, and its reason. */
int output_file_close(FILE **stream, bool keep, struct stackmap_error *error);

/* From here on a signal that ends the process removes a file that is not in its place yet. */
void output_file_guard(void);

#endif
