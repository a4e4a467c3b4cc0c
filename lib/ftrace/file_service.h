/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of ring_file.c that parses, with trace-cmd's library; it runs in a sandbox. First comes
 * a request to open, with the file, and the name of the instance. Each answer has a head, and
 * `bytes` behind it:
 *
 *   FILE_OPEN   nothing
 *   FILE_NEXT   a batch (ftrace/batch.h); an empty one: those were all
 *   FILE_SYMBOL the name of the function at `address`
 */
#ifndef LIB_FTRACE_FILE_SERVICE_H
#define LIB_FTRACE_FILE_SERVICE_H

#include "scalar.h"

#define FILE_BUFFER_NAME_BYTES 256

enum file_what { FILE_OPEN, FILE_NEXT, FILE_SYMBOL };

struct file_request {
	u32 what;
	u32 has_buffer;
	u64 address;
	char buffer[FILE_BUFFER_NAME_BYTES];
};

struct file_answer {
	s32 result; /* 0 or -errno */
	u32 bytes;  /* <= FTRACE_BATCH_BYTES */
	u32 cpus;
	u32 reserved;
	u64 start, size; /* of the function */
};

/* Until the other side closes the socket. */
void file_serve(int socket);

#endif
