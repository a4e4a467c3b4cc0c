/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of /proc or /sys as one text: such files have no size to ask for beforehand. */
#ifndef LIB_SYMBOL_WHOLE_FILE_H
#define LIB_SYMBOL_WHOLE_FILE_H

#include <stddef.h>

/* 0 and a buffer for the caller to free, NUL behind its last byte; or -errno. -EFBIG beyond 256
 * MiB. */
int whole_file_read(const char *path, char **text, size_t *bytes);

/* As far as the read, of some KiB, that brought a mark, which is no empty string. */
int whole_file_read_until(const char *path, const char *mark, char **text, size_t *bytes);

/* Of an open file, from its beginning: all of it, or as far as a mark. */
int whole_file_read_open(int fd, char **text, size_t *bytes);
int whole_file_read_open_until(int fd, const char *mark, char **text, size_t *bytes);

/* All of it, without its first bytes. */
int whole_file_read_from(int fd, size_t first, char **text, size_t *bytes);

/* Of a small file, the first line that a format of scanf() fits, for its first value. -EINVAL: none
 * does, nothing is changed; or -errno. */
__attribute__((format(scanf, 2, 3))) int whole_file_scan(const char *path, const char *format, ...);

#endif
