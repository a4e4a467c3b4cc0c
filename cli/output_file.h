/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output that is there whole or not at all: it is written under a temporary name beside the real
 * one, which it gets at the end. A signal that ends the process removes it. What is not a regular
 * file (a pipe, a device, a symbolic link) is written directly, and so is standard output, which is
 * called "-".
 *
 * It is made for others to read, unlike a recording: its mode is what the umask leaves of 0666, or
 * that of our own file which it replaces.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

bool output_file_is_standard(const char *path);

/* One at a time. 0 and *stream, or -errno: *stream has no meaning. `path` must live until the end.
 */
int output_file_open(const char *path, FILE **stream);

/* Puts the file in its place, or removes it unless `keep`. 0 or -errno: then nothing is left. */
int output_file_close(FILE **stream, bool keep);

#endif
