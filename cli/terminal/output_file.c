/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stream has a duplicate of the descriptor, because the original descriptor is needed to give
 * the file its name. Standard output is the process's own stream, which main() checks.
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "error.h"
#include "interrupt.h"
#include "output/output.h"

/*
 * Keeps errno of the first failure. The stream has its own write function, in which errno is still
 * that of write(2).
 */

static void keep_first_write_error(struct write_stream *stream)
{
	if (!stream->error)
		stream->error = errno;
}

/* stdio treats a result below `bytes` as an error. */
static ssize_t write_to_descriptor(void *cookie, const char *data, size_t bytes)
{
	struct write_stream *stream = cookie;
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = write(stream->fd, data + done, bytes - done);

		if (n < 0 && errno == EINTR && !interrupted())
			continue;
		if (n < 0) {
			keep_first_write_error(stream);
			break;
		}
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int close_descriptor(void *cookie)
{
	struct write_stream *stream = cookie;

	if (!close(stream->fd))
		return 0;
	keep_first_write_error(stream);
	return -1;
}

int write_stream_open(struct write_stream *stream, int fd)
{
	const cookie_io_functions_t functions = {.write = write_to_descriptor,
						 .close = close_descriptor};
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

static struct output output;
static struct write_stream written;

static void remove_file_and_die(int signal)
{
	output_remove_temporary();
	raise(signal); /* because of SA_RESETHAND, the signal now ends the process */
}

void remove_output_file_on_signals(void)
{
	static const int deadly[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	struct sigaction action = {.sa_handler = remove_file_and_die, .sa_flags = SA_RESETHAND};
	struct sigaction old;

	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++) {
		sigaction(deadly[i], NULL, &old);
		if (old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
	}
}

bool output_file_is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

int output_file_open(const char *path, FILE **stream, struct stackmap_error *error)
{
	int result;
	int fd;

	if (output_file_is_standard(path)) {
		*stream = stdout;
		return 0;
	}
	remove_output_file_on_signals();
	result = output_open(path, OUTPUT_EXPORT, &output, error);
	if (result)
		return result;
	fd = fcntl(output.fd, F_DUPFD_CLOEXEC, 0);
	result = fd < 0 ? -errno : write_stream_open(&written, fd);
	if (result && fd >= 0)
		close(fd);
	if (!result) {
		*stream = written.file;
		return 0;
	}
	output_close(&output);
	return set_output_write_error(path, result, error);
}

int output_file_close(FILE **stream, bool keep, struct stackmap_error *error)
{
	bool is_standard = *stream == stdout;
	int result;

	*stream = NULL;
	if (is_standard)
		return 0;
	result = write_stream_close(&written);
	if (result)
		result = set_output_write_error(output.path, result, error);
	else if (keep)
		result = output_publish(&output, error);
	output_close(&output);
	return result;
}
