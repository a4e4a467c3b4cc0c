/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stdio stream that keeps the errno of its first failure. stdio only has ferror(), and the errno
 * of write(2) is overwritten before a caller can read it.
 */
#ifndef CLI_WRITE_STREAM_H
#define CLI_WRITE_STREAM_H

#include <stdio.h>

struct write_stream {
	FILE *file; /* NULL: not open */
	int fd;
	int error; /* errno of the first write that failed; 0: no failure */
};

/* Takes over `fd`, unless it fails: 0 or -errno. *stream must stay where it is until the end. */
int write_stream_open(struct write_stream *stream, int fd);

/* Writes the buffered rest, and closes. 0, or -errno of the first failure. */
int write_stream_close(struct write_stream *stream);

#endif
