/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file is read without a stream of stdio, whose buffer would keep the secret. */
#include "secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

#define SECRET_MAX 4096

static int refuse_world_readable_file(int fd, const char *path, struct stackmap_error *error)
{
	struct stat status;

	if (fstat(fd, &status))
		return error_set_errno(error, errno, path);
	if (S_ISREG(status.st_mode) && status.st_mode & S_IROTH)
		return error_set(error, EACCES, "%s: everybody may read it: chmod o-r", path);
	return 0;
}

/* Reads to the end of the file, or until the room is full. */
static int read_until_full(int fd, char *room, size_t bytes, size_t *length)
{
	ssize_t got;

	for (*length = 0; *length < bytes; *length += (size_t)got) {
		got = read(fd, room + *length, bytes - *length);
		if (!got)
			return 0;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (got < 0)
			got = 0;
	}
	return 0;
}

static int check_secret_is_one_line(const char *path, char *room, size_t length,
				    struct stackmap_error *error)
{
	if (length && room[length - 1] == '\n')
		length--;
	if (length && room[length - 1] == '\r')
		length--;
	room[length] = '\0';
	if (!length || length >= SECRET_MAX || strlen(room) != length || strpbrk(room, "\r\n"))
		return error_set(error, EINVAL, "%s: it holds no single line", path);
	return 0;
}

int secret_file_read(const char *path, char **out, struct stackmap_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char room[SECRET_MAX + 2];
	size_t length = 0;
	int err;

	if (fd < 0)
		return error_set_errno(error, errno, path);
	err = refuse_world_readable_file(fd, path, error);
	if (!err) {
		err = read_until_full(fd, room, sizeof(room) - 1, &length);
		err = err ? error_set_errno(error, -err, path)
			  : check_secret_is_one_line(path, room, length, error);
	}
	close(fd);
	if (!err && !(*out = strdup(room)))
		err = error_set_errno(error, ENOMEM, path);
	explicit_bzero(room, sizeof(room));
	return err;
}

void secret_free(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
	*secret = NULL;
}
