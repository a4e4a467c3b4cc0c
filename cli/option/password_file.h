/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The password of a store or a receiver (secret_file.h): from the named file, or from systemd's
 * credential "stackmap.password" in $CREDENTIALS_DIRECTORY.
 */
#ifndef CLI_PASSWORD_FILE_H
#define CLI_PASSWORD_FILE_H

/* The caller frees *password by secret_free(). *password is NULL if no file was named and there is
 * no credential. Returns EXIT_DONE, or prints a message and returns EXIT_FAILED. */
int password_file_read(const char *path, char **password);

#endif
