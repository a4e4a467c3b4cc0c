/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passwords and tokens come from files, never from arguments, which everybody sees. */
#ifndef LIB_SECRET_FILE_H
#define LIB_SECRET_FILE_H

#include "stackmap/error.h"

/* The only line of a file, without its end. -EINVAL: it is empty, longer than 4 KiB, or there are
 * more; -EACCES: everybody may read the file. *out is for secret_free(). */
int secret_file_read(const char *path, char **out, struct stackmap_error *error);
/* Overwrites it. */
void secret_free(char **secret);

#endif
