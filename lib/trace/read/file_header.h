/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first bytes of a recording: whether a file is one, and of which version. */
#ifndef LIB_TRACE_FILE_HEADER_H
#define LIB_TRACE_FILE_HEADER_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

/* Whether it begins as recordings of all versions do. A file that cannot be read does not. */
bool file_header_is_there(int fd);

/* -EBADMSG: not a recording, or damaged; -EPROTONOSUPPORT: of a newer version; or what pread()
 * says. `path` stands for the file in messages. */
int file_header_read(int fd, const char *path, u32 *version, struct stackmap_error *error);

#endif
