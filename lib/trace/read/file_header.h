/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first bytes of a recording: they identify the file and its version. */
#ifndef LIB_TRACE_FILE_HEADER_H
#define LIB_TRACE_FILE_HEADER_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"

/* True if the file begins like a recording of any version; false if it cannot be read. */
bool file_header_is_there(int fd);

/* -EBADMSG: not a recording, or damaged; -EPROTONOSUPPORT: a newer version; or the error of
 * pread(). `path` names the file in messages. */
int file_header_read(int fd, const char *path, u32 *version, struct stackmap_error *error);

#endif
