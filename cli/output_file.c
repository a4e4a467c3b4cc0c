/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* unlink(2) may be called in a signal handler; the name it needs is therefore static. */
#include "output_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int open_temporary(FILE **stream)
{
	int fd = mkstemp(temporary), err;

	if (fd < 0) {
		err = -errno;
		temporary[0] = '\0';
		return err;
	}
	catch_signals();
	*stream = fdopen(fd, "w");
	if (*stream)
		return 0;
	err = -errno;
	close(fd);
	unlink(temporary);
	temporary[0] = '\0';
	return err;
}

int output_file_open(const char *path, FILE **stream)
{
	FILE *file;

	if (is_special(path)) {
		file = fopen(path, "we");
		if (!file)
			return -errno;
		*stream = file;
		return 0;
	}
	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >=
	    sizeof(temporary)) {
		temporary[0] = '\0';
		return -ENAMETOOLONG;
	}
	final_path = path;
	return open_temporary(stream);
}

int output_file_close(FILE **stream, bool keep)
{
	int err = ferror(*stream) ? -EIO : 0;

	errno = 0;
	if (fclose(*stream) && errno)
		err = -errno;
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
