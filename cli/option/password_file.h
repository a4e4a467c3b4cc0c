/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The password of a store or a receiver (secret_file.h): in the file that is named, or in that
 * which systemd has put into $CREDENTIALS_DIRECTORY as "stackmap.password".
 */
#ifndef CLI_PASSWORD_FILE_H
#define CLI_PASSWORD_FILE_H

/* *password: for secret_free(); NULL: there is none, and none was named. EXIT_DONE, or a message
 * and EXIT_FAILED. */
int password_file_read(const char *path, char **password);

#endif
