/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes gzip data into a stream. The caller owns the stream and checks it for errors. */
#ifndef LIB_EXPORT_GZIP_STREAM_H
#define LIB_EXPORT_GZIP_STREAM_H

#include <stddef.h>
#include <stdio.h>

struct gzip_stream;

int gzip_stream_create(FILE *to, struct gzip_stream **out); /* -ENOMEM */
void gzip_stream_write(struct gzip_stream *stream, const void *data, size_t bytes);

/* Writes the buffered rest and the end of the gzip data, and frees the gzip_stream. The FILE stays
 * open. */
void gzip_stream_close(struct gzip_stream **stream);

#endif
