/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening, publishing and cutting back the output file. mkostemp() gives mode 0600 and a name
 * nobody else has. */
#include "trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

static int fail(const char *path, int code, struct stackmap_error *error)
{
	return error_set(error, code, "%s: cannot be written: %s", path, strerror(code));
}

static int open_standard_output(struct output *output, struct stackmap_error *error)
{
	output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return output->fd < 0 ? fail("standard output", errno, error) : 0;
}

static int open_as_it_is(const char *path, struct output *output, struct stackmap_error *error)
{
	output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return output->fd < 0 ? fail(path, errno, error) : 0;
}

static int open_temporary(struct output *output)
{
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd >= 0)
		return 0;
	free(output->temporary);
	output->temporary = NULL;
	return -errno;
}

/* A symbolic link stays, the file it leads to is what is replaced. */
static char *final_name(const char *path, bool exists)
{
	return exists ? realpath(path, NULL) : strdup(path);
}

static int open_regular(const char *path, bool exists, struct output *output,
			struct stackmap_error *error)
{
	int err;

	output->path = final_name(path, exists);
	if (!output->path)
		return fail(path, errno, error);
	err = open_temporary(output);
	if (!err)
		return 0;
	free(output->path);
	output->path = NULL;
	return fail(path, -err, error);
}

static int open_by_type(const char *path, struct output *output, struct stackmap_error *error)
{
	struct stat status;
	bool exists = stat(path, &status) == 0;

	if (!exists && errno != ENOENT)
		return fail(path, errno, error);
	if (exists && S_ISDIR(status.st_mode))
		return fail(path, EISDIR, error);
	if (exists && !S_ISREG(status.st_mode))
		return open_as_it_is(path, output, error);
	return open_regular(path, exists, output, error);
}

int output_open(const char *path, struct output *output, struct stackmap_error *error)
{
	struct output opened = {.fd = -1};
	int err = strcmp(path, "-") ? open_by_type(path, &opened, error)
				    : open_standard_output(&opened, error);

	if (err)
		return err;
	*output = opened;
	return 0;
}

void output_take(int fd, struct output *output)
{
	*output = (struct output){.fd = fd};
}

static int keep_older(const char *path)
{
	char *old;
	int err;

	if (asprintf(&old, "%s.old", path) < 0)
		return -ENOMEM;
	err = rename(path, old) && errno != ENOENT ? -errno : 0;
	free(old);
	return err;
}

int output_publish(struct output *output, struct stackmap_error *error)
{
	int err;

	if (!output->temporary)
		return 0;
	err = keep_older(output->path);
	if (err)
		return error_set(error, -err, "%s: cannot be renamed to %s.old: %s", output->path,
				 output->path, strerror(-err));
	if (rename(output->temporary, output->path))
		return fail(output->path, errno, error);
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

static int write_all(int fd, const u8 *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* A cut that fails leaves part of a block behind, which its checksum gives away. */
static void cut_back(const struct output *output)
{
	int err = output->path ? ftruncate(output->fd, (off_t)output->written) : 0;

	(void)err;
}

int output_write(struct output *output, const void *data, size_t bytes)
{
	int err = write_all(output->fd, data, bytes);

	if (err)
		cut_back(output);
	else
		output->written += bytes;
	return err;
}

int output_close(struct output *output)
{
	int err = close(output->fd) ? -errno : 0;

	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	free(output->path);
	*output = (struct output){.fd = -1};
	return err;
}
