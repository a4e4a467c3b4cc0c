/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output (output/output.h) as a stream. The file appears whole or not at all. Standard output is
 * called "-".
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "stackmap/error.h"

bool output_file_is_standard(const char *path);

/* Opens an output; one at a time. 0 and *stream, or -errno. */
int output_file_open(const char *path, FILE **stream, struct stackmap_error *error);

/* Moves the file to its place, or removes it unless `keep`. -errno: the file was removed. Bytes
 * that could not be written are an error in any case. */
int output_file_close(FILE **stream, bool keep, struct stackmap_error *error);

/* Installs handlers: a signal that ends the process then removes an unfinished file. */
void output_file_guard(void);

#endif
