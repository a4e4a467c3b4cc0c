/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads files of /proc and /sys as one text; stat() gives no size for such files. */
#ifndef LIB_SYMBOL_WHOLE_FILE_H
#define LIB_SYMBOL_WHOLE_FILE_H

#include <stddef.h>

/* Reads a whole file. Returns 0 and a buffer for the caller to free, with a NUL after its last
 * byte; or -errno. -EFBIG: the file has more than 256 MiB. */
int whole_file_read(const char *path, char **text, size_t *bytes);

/* Like whole_file_read(), but reading stops after the first read() (of some KiB) that brings
 * `mark`, a text that is not empty. */
int whole_file_read_until(const char *path, const char *mark, char **text, size_t *bytes);

/* Like whole_file_read(), for an open file. The file is read from its beginning; a file without
 * positions is read from where its descriptor stands. */
int whole_file_read_open(int fd, char **text, size_t *bytes);
int whole_file_read_open_until(int fd, const char *mark, char **text, size_t *bytes);

/* Like whole_file_read(), for an open file, from offset `first` to its end. */
int whole_file_read_from(int fd, size_t first, char **text, size_t *bytes);

/* Parses the lines of a small file by a format of scanf(), up to the first line that gives the
 * first value. 0; -EINVAL: no line fits, and the values are unchanged; or -errno. */
__attribute__((format(scanf, 2, 3))) int whole_file_scan(const char *path, const char *format, ...);

#endif
