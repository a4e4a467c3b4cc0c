/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The password of a store or a receiver (secret_file.h): from the named file, or from systemd's
 * credential "stackmap.password" in $CREDENTIALS_DIRECTORY.
 */
#ifndef CLI_PASSWORD_FILE_H
#define CLI_PASSWORD_FILE_H

/* Sets *password, for secret_free(); NULL: no file was named, and there is no credential.
 * EXIT_DONE, or a message and EXIT_FAILED. */
int password_file_read(const char *path, char **password);

#endif
