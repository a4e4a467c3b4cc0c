/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stream has its own write function, because there errno is still the one of write(2). */
#include "write_stream.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include "interrupt.h"

static void keep_error(struct write_stream *stream)
{
	if (!stream->error)
		stream->error = errno;
}

/* stdio treats a result below `bytes` as an error. */
static ssize_t put(void *cookie, const char *data, size_t bytes)
{
	struct write_stream *stream = cookie;
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = write(stream->fd, data + done, bytes - done);

		if (n < 0 && errno == EINTR && !interrupted())
			continue;
		if (n < 0) {
			keep_error(stream);
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int end(void *cookie)
{
	struct write_stream *stream = cookie;

	if (!close(stream->fd))
		return 0;
	keep_error(stream);
	return -1;
}

int write_stream_open(struct write_stream *stream, int fd)
{
	const cookie_io_functions_t functions = {.write = put, .close = end};
	FILE *file = fopencookie(stream, "w", functions);

	if (!file)
		return -errno;
	*stream = (struct write_stream){.file = file, .fd = fd};
	return 0;
}

int write_stream_close(struct write_stream *stream)
{
	int failed = fclose(stream->file);

	stream->file = NULL;
	if (failed && !stream->error)
		stream->error = EIO;
	return -stream->error;
}
