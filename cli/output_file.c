/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unlink(2) may be called in a signal handler; the name it needs is therefore static.
 *
 * mkstemp() gives mode 0600, and a process cannot ask for its umask without changing it: so files
 * are made by open(), where the kernel applies the umask, or the folder's default ACL. O_EXCL
 * follows no link and takes no file of somebody else; the random part only avoids what others left.
 *
 * Links are left to open(), too: the kernel knows which ones may be followed (protected_symlinks).
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "write_stream.h"

#define ATTEMPTS 100

static struct write_stream output;
static const char *final_path;
static char temporary[PATH_MAX]; /* "" while there is none */

static void remove_and_die(int signal)
{
	unlink(temporary);
	raise(signal); /* SA_RESETHAND: now it ends the process */
}

static void catch_signals(void)
{
	static const int deadly[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE};
	struct sigaction action = {.sa_handler = remove_and_die, .sa_flags = SA_RESETHAND};
	struct sigaction old;

	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++) {
		sigaction(deadly[i], NULL, &old);
		if (old.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
	}
}

/* Under a name that nobody has. The descriptor or -errno. */
static int create_beside(const char *path, mode_t mode)
{
	unsigned int number = 0;
	int fd = -1;

	for (int i = 0; i < ATTEMPTS; i++) {
		if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
			number++;
		if ((size_t)snprintf(temporary, sizeof(temporary), "%s.%08x", path, number) >=
		    sizeof(temporary))
			return -ENAMETOOLONG;
		fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* As it was, if there was one of ours: a file of somebody else does not open ours to him. */
static mode_t mode_like(const struct stat *former)
{
	return former && former->st_uid == geteuid() ? former->st_mode & 0777 : 0;
}

static int open_temporary(const struct stat *former)
{
	mode_t mode = mode_like(former);
	int fd = create_beside(final_path, mode ? mode : 0666), err;

	if (fd < 0) {
		temporary[0] = '\0';
		return fd;
	}
	catch_signals();
	err = mode && fchmod(fd, mode) ? -errno : write_stream_open(&output, fd);
	if (!err)
		return 0;
	close(fd);
	unlink(temporary);
	temporary[0] = '\0';
	return err;
}

static int open_directly(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err = fd < 0 ? -errno : write_stream_open(&output, fd);

	if (err && fd >= 0)
		close(fd);
	return err;
}

static int open_file(const char *path)
{
	struct stat status;
	bool exists = lstat(path, &status) == 0;

	if (exists && !S_ISREG(status.st_mode))
		return open_directly(path);
	final_path = path;
	return open_temporary(exists ? &status : NULL);
}

bool output_file_is_standard(const char *path)
{
	return strcmp(path, "-") == 0;
}

int output_file_open(const char *path, FILE **stream)
{
	bool is_standard = output_file_is_standard(path);
	int err = is_standard ? 0 : open_file(path);

	if (!err)
		*stream = is_standard ? stdout : output.file;
	return err;
}

/* Standard output stays open: who ends the process looks at what became of it. */
int output_file_close(FILE **stream, bool keep)
{
	int err = *stream == stdout ? 0 : write_stream_close(&output);

	*stream = NULL;
	if (!temporary[0])
		return err;
	if (!err && keep && rename(temporary, final_path))
		err = -errno;
	if (err || !keep)
		unlink(temporary);
	temporary[0] = '\0';
	return err;
}
