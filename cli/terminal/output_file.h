/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An output (output/output.h) as a stdio stream. The file appears complete or not at all. "-" is
 * standard output.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "stackmap/error.h"

/*
 * A stdio stream that keeps the errno of its first failure. stdio only has ferror(), and the errno
 * of write(2) is overwritten before a caller can read it.
 */

struct write_stream {
	FILE *file; /* stream; NULL: not open */
	int fd;
	int error; /* errno of the first write that failed; 0: no failure */
};

/*
 * Opens a stream for `fd`, and takes the descriptor over unless the call fails. 0 or -errno.
 * *stream must not be moved until it is closed.
 */
int write_stream_open(struct write_stream *stream, int fd);

/* Writes the buffered bytes, and closes the stream. 0, or -errno of the first failure. */
int write_stream_close(struct write_stream *stream);

bool output_file_is_standard(const char *path);

/* Opens an output; only one may be open at a time. 0 and *stream, or -errno. */
int output_file_open(const char *path, FILE **stream, struct stackmap_error *error);

/*
 * Gives the file its name, or removes it if `keep` is false. -errno: the file was removed. Bytes
 * that could not be written are an error in any case.
 */
int output_file_close(FILE **stream, bool keep, struct stackmap_error *error);

/* Installs signal handlers: a signal that ends the process then also removes an unfinished file. */
void remove_output_file_on_signals(void);

#endif
