/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads until the end into a buffer that doubles. Reads give a position, as other processes may
 * share the descriptor's offset; only a file without positions is read from where it stands. */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES_MAX (256UL << 20)

struct buffer {
	char *text;
	size_t used;
	size_t capacity;
	size_t first; /* offset of the text in the file */
};

static ssize_t read_at(int fd, char *to, size_t room, size_t offset)
{
	ssize_t got;

	do {
		got = pread(fd, to, room, offset);
		if (got < 0 && errno == ESPIPE)
			got = read(fd, to, room);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* Appends the bytes of one read and keeps room for a NUL. Bytes, 0 at the end, or -errno. */
static ssize_t read_some(int fd, struct buffer *buffer)
{
	ssize_t got;

	if (buffer->capacity - buffer->used < 2) {
		size_t capacity = buffer->capacity ? buffer->capacity * 2 : 64 << 10;
		char *text = capacity > BYTES_MAX ? NULL : realloc(buffer->text, capacity);

		if (!text)
			return capacity > BYTES_MAX ? -EFBIG : -ENOMEM;
		buffer->text = text;
		buffer->capacity = capacity;
	}
	got = read_at(fd, buffer->text + buffer->used, buffer->capacity - buffer->used - 1,
		      buffer->first + buffer->used);
	if (got > 0)
		buffer->used += got;
	return got;
}

/* True if a mark ends within the last `got` bytes. The second byte of the mark is rare in the files
 * that are searched for one, and memchr() is much faster than memmem(). */
static bool has_mark(const struct buffer *buffer, size_t got, const char *mark)
{
	size_t length = strlen(mark), bytes = got + length - 1;

	if (bytes > buffer->used)
		bytes = buffer->used;
	return memchr(buffer->text + buffer->used - bytes, mark[1], bytes) &&
	       memmem(buffer->text + buffer->used - bytes, bytes, mark, length);
}

static int read_open(int fd, size_t first, const char *mark, char **text, size_t *bytes)
{
	struct buffer buffer = {.first = first};
	ssize_t got;

	do
		got = read_some(fd, &buffer);
	while (got > 0 && !(mark && has_mark(&buffer, got, mark)));
	if (got < 0) {
		free(buffer.text);
		return got;
	}
	buffer.text[buffer.used] = 0;
	*text = buffer.text;
	*bytes = buffer.used;
	return 0;
}

int whole_file_read_open(int fd, char **text, size_t *bytes)
{
	return whole_file_read_from(fd, 0, text, bytes);
}

int whole_file_read_open_until(int fd, const char *mark, char **text, size_t *bytes)
{
	return read_open(fd, 0, mark, text, bytes);
}

int whole_file_read_from(int fd, size_t first, char **text, size_t *bytes)
{
	return read_open(fd, first, NULL, text, bytes);
}

int whole_file_read_until(const char *path, const char *mark, char **text, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = read_open(fd, 0, mark, text, bytes);
	close(fd);
	return err;
}

int whole_file_read(const char *path, char **text, size_t *bytes)
{
	return whole_file_read_until(path, NULL, text, bytes);
}

int whole_file_scan(const char *path, const char *format, ...)
{
	FILE *file = fopen(path, "re");
	int result = file ? -EINVAL : -errno;
	char line[256];
	va_list args;

	while (file && result && fgets(line, sizeof(line), file)) {
		va_start(args, format);
		result = vsscanf(line, format, args) > 0 ? 0 : -EINVAL;
		va_end(args);
	}
	if (file)
		fclose(file);
	return result;
}
