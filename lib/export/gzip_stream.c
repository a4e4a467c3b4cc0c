/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * zlib's gzFile is not used, since it needs a file descriptor and hides the error of fclose().
 * Small writes are collected in a buffer, since a call of deflate() costs more than the copy.
 */
#include "gzip_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

/* window bits of deflate: the largest window; + 16 selects gzip instead of zlib */
#define GZIP_WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8 /* memory level of deflate: zlib's default */
#define BUFFER_BYTES 65536

struct gzip_stream {
	z_stream deflater;
	FILE *to;
	size_t used;
	unsigned char plain[BUFFER_BYTES];
	unsigned char packed[BUFFER_BYTES];
};

int gzip_stream_create(FILE *to, struct gzip_stream **out)
{
	struct gzip_stream *stream = calloc(1, sizeof(*stream));

	if (!stream || deflateInit2(&stream->deflater, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
				    GZIP_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(stream);
		return -ENOMEM;
	}
	stream->to = to;
	*out = stream;
	return 0;
}

static void compress_buffer(struct gzip_stream *stream, int flush)
{
	z_stream *deflater = &stream->deflater;

	deflater->next_in = stream->plain;
	deflater->avail_in = (uInt)stream->used;
	do {
		deflater->next_out = stream->packed;
		deflater->avail_out = BUFFER_BYTES;
		deflate(deflater, flush);
		fwrite(stream->packed, 1, BUFFER_BYTES - deflater->avail_out, stream->to);
	} while (!deflater->avail_out);
	stream->used = 0;
}

void gzip_stream_write(struct gzip_stream *stream, const void *data, size_t bytes)
{
	const unsigned char *from = data;

	while (bytes) {
		size_t room = BUFFER_BYTES - stream->used;
		size_t part = bytes < room ? bytes : room;

		memcpy(&stream->plain[stream->used], from, part);
		stream->used += part;
		from += part;
		bytes -= part;
		if (stream->used == BUFFER_BYTES)
			compress_buffer(stream, Z_NO_FLUSH);
	}
}

void gzip_stream_close(struct gzip_stream **stream)
{
	if (!*stream)
		return;
	compress_buffer(*stream, Z_FINISH);
	deflateEnd(&(*stream)->deflater);
	free(*stream);
	*stream = NULL;
}
