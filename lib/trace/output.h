/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a recording goes. A regular file is built under a temporary name beside its final one; only
 * output_publish(), after the first bytes were written, moves an older file to `path`.old and the
 * new one in its place. So a failure up to there changes nothing. Devices, pipes and "-" (standard
 * output) are written as they are.
 */
#ifndef LIB_TRACE_OUTPUT_H
#define LIB_TRACE_OUTPUT_H

#include <stddef.h>

#include "scalar.h"
#include "stackmap/error.h"

struct output {
	int fd;
	u64 written;	 /* whole blocks */
	char *path;	 /* the final name; NULL where there is none to publish */
	char *temporary; /* NULL once published */
};

int output_open(const char *path, struct output *output, struct stackmap_error *error);
void output_take(int fd, struct output *output); /* there is nothing to publish */
int output_publish(struct output *output, struct stackmap_error *error);

/* All of it, or the file is cut back to what was there before (where it can be) and -errno. */
int output_write(struct output *output, const void *data, size_t bytes);

/* Removes what was not published. */
int output_close(struct output *output);

#endif
