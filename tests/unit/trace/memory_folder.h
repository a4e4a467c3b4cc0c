/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder in memory, for tests that write a file again for each of its bytes, which would wait for
 * a disk each time. */
#ifndef TESTS_UNIT_TRACE_MEMORY_FOLDER_H
#define TESTS_UNIT_TRACE_MEMORY_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MEMORY_FOLDER_BYTES 48

/* Without a file system in memory the folder is on disk. Returns 0 or -1. */
static inline int memory_folder_create(char folder[MEMORY_FOLDER_BYTES])
{
	const char *parent = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	snprintf(folder, MEMORY_FOLDER_BYTES, "%s/stackmap-trace-XXXXXX", parent);
	return mkdtemp(folder) ? 0 : -1;
}

#endif
