/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passwords and tokens come from files, never from arguments, which all users can see. */
#ifndef LIB_SECRET_FILE_H
#define LIB_SECRET_FILE_H

#include "stackmap/error.h"

/*
 * Reads the only line of a file, without its end. -EINVAL: the file is empty, has more than one
 * line, or is longer than 4 KiB; -EACCES: all users may read the file. The caller frees *out by
 * secret_free().
 */
int secret_file_read(const char *path, char **out, struct stackmap_error *error);
/* Overwrites the secret and frees it. */
void secret_free(char **secret);

#endif
