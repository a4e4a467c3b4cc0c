/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An empty file is a mistake that would otherwise show as a wrong password. */
#include "option/password_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/message.h"

#define CREDENTIAL "stackmap.password"
#define PASSWORD_BYTES_MAX 4096

static int fail(const char *path, const char *why)
{
	message("--password-file %s: %s", path, why);
	return EXIT_FAILED;
}

static int read_line(const char *path, FILE *file, char **password)
{
	char line[PASSWORD_BYTES_MAX];

	if (!fgets(line, sizeof(line), file))
		return fail(path, ferror(file) ? strerror(errno) : "it is empty");
	line[strcspn(line, "\r\n")] = '\0';
	if (!line[0])
		return fail(path, "its first line is empty");
	*password = strdup(line);
	explicit_bzero(line, sizeof(line));
	return *password ? EXIT_DONE : fail(path, strerror(ENOMEM));
}

static int read_file(const char *path, bool may_lack, char **password)
{
	FILE *file = fopen(path, "re");
	int status;

	if (!file)
		return may_lack && errno == ENOENT ? EXIT_DONE : fail(path, strerror(errno));
	status = read_line(path, file, password);
	fclose(file);
	return status;
}

int password_file_read(const char *path, char **password)
{
	const char *folder = secure_getenv("CREDENTIALS_DIRECTORY");
	char *credential;
	int status;

	*password = NULL;
	if (path)
		return read_file(path, false, password);
	if (!folder)
		return EXIT_DONE;
	if (asprintf(&credential, "%s/" CREDENTIAL, folder) < 0)
		return fail(folder, strerror(ENOMEM));
	status = read_file(credential, true, password);
	free(credential);
	return status;
}
