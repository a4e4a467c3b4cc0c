/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passwords and tokens come from files, never from arguments, which everybody sees. */
#ifndef LIB_PUSH_SECRET_H
#define LIB_PUSH_SECRET_H

#include "stackmap/error.h"

/* The first line of a file, without its end; the rest must be empty. -EINVAL: it is empty, longer
 * than 4 KiB or has more lines; -EACCES: everybody may read the file. */
int push_secret_read(const char *path, char **out, struct stackmap_error *error);
/* Overwrites it. */
void push_secret_free(char **secret);

#endif
