/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "option/password_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "secret_file.h"
#include "terminal/message.h"

#define CREDENTIAL "stackmap.password"

static int read_file(const char *path, char **password)
{
	struct stackmap_error error;

	if (!secret_file_read(path, password, &error))
		return EXIT_DONE;
	message("--password-file %s", error.message);
	return EXIT_FAILED;
}

int password_file_read(const char *path, char **password)
{
	const char *folder = secure_getenv("CREDENTIALS_DIRECTORY");
	int status = EXIT_DONE;
	char *credential;

	*password = NULL;
	if (path)
		return read_file(path, password);
	if (!folder)
		return EXIT_DONE;
	if (asprintf(&credential, "%s/" CREDENTIAL, folder) < 0) {
		message("%s: %s", folder, strerror(ENOMEM));
		return EXIT_FAILED;
	}
	if (access(credential, F_OK) == 0)
		status = read_file(credential, password);
	free(credential);
	return status;
}
