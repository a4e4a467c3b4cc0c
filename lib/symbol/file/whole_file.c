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

static ssize_t read_at_offset(int fd, char *to, size_t room, size_t offset)
{
	ssize_t got;

	do {
		got = pread(fd, to, room, offset);
		if (got < 0 && errno == ESPIPE)
			got = read(fd, to, room);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* True if a mark ends within the last `got` bytes. The second byte of the mark is rare in the files
 * that are searched for one, and memchr() is much faster than memmem(). */
static bool has_search_text_in_last_read(const char *text, size_t used, size_t got,
					 const char *mark)
{
	size_t length = strlen(mark), bytes = got + length - 1;

	if (bytes > used)
		bytes = used;
	return memchr(text + used - bytes, mark[1], bytes) &&
	       memmem(text + used - bytes, bytes, mark, length);
}

/* Reads from offset `first` to the end of the file; if `mark` is not NULL, up to the end of the
 * read() that brings the first mark. A NUL follows the last byte. */
static int read_open_file_from_offset_to_end_or_mark(int fd, size_t first, const char *mark,
						     char **out, size_t *bytes)
{
	size_t used = 0, room = 0;
	char *text = NULL;
	ssize_t got;

	do {
		if (room - used < 2) {
			size_t wider = room ? room * 2 : 64 << 10;
			char *moved = wider > BYTES_MAX ? NULL : realloc(text, wider);

			got = wider > BYTES_MAX ? -EFBIG : -ENOMEM;
			if (!moved)
				break;
			text = moved;
			room = wider;
		}
		got = read_at_offset(fd, text + used, room - used - 1, first + used);
		if (got > 0)
			used += got;
	} while (got > 0 && !(mark && has_search_text_in_last_read(text, used, got, mark)));
	if (got < 0) {
		free(text);
		return got;
	}
	text[used] = 0;
	*out = text;
	*bytes = used;
	return 0;
}

int whole_file_read_open(int fd, char **text, size_t *bytes)
{
	return whole_file_read_from(fd, 0, text, bytes);
}

int whole_file_read_open_until(int fd, const char *mark, char **text, size_t *bytes)
{
	return read_open_file_from_offset_to_end_or_mark(fd, 0, mark, text, bytes);
}

int whole_file_read_from(int fd, size_t first, char **text, size_t *bytes)
{
	return read_open_file_from_offset_to_end_or_mark(fd, first, NULL, text, bytes);
}

int whole_file_read_until(const char *path, const char *mark, char **text, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = read_open_file_from_offset_to_end_or_mark(fd, 0, mark, text, bytes);
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
