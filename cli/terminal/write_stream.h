/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stdio stream that remembers why it failed. stdio keeps no more than ferror(): what write(2)
 * said of a full disk is overwritten by the time that somebody asks.
 */
#ifndef CLI_WRITE_STREAM_H
#define CLI_WRITE_STREAM_H

#include <stdio.h>

struct write_stream {
	FILE *file; /* NULL: not open */
	int fd;
	int error; /* errno of the first write that failed; 0: none */
};

/* Takes over `fd`, unless it fails: 0 or -errno. *stream must stay where it is until the end. */
int write_stream_open(struct write_stream *stream, int fd);

/* Writes what is left, and closes. 0, or -errno of whatever failed first. */
int write_stream_close(struct write_stream *stream);

#endif
