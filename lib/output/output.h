/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a command writes, whatever it is. A regular file is made anew, without a name (O_TMPFILE)
 * or, where the file system cannot do that, under a temporary one; only output_publish() gives it
 * its name. So a failure up to there changes nothing, nobody else's file is ever written, and a
 * process that is killed leaves nothing.
 *
 * "-" is standard output. A FIFO or a device is written as it is, if it is ours or root's: one of
 * another user may be there to receive what is not for him.
 */
#ifndef LIB_OUTPUT_OUTPUT_H
#define LIB_OUTPUT_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "output/output_place.h"
#include "scalar.h"
#include "stackmap/error.h"

enum output_kind {
	OUTPUT_RECORDING, /* readable for its owner; an older one becomes NAME.old */
	OUTPUT_EXPORT,	  /* as the umask has it, or as our own file that it replaces */
};

struct output {
	int fd;
	u64 written; /* whole blocks */
	bool waits;  /* a pipe, a terminal...: for whoever reads it */
	enum output_kind kind;
	char *path;		      /* as it was named */
	bool is_file;		      /* to be published */
	struct output_place place;    /* where it gets its name */
	char temporary[NAME_MAX + 1]; /* "": has none */
	bool published;
};

/* A FIFO that nobody reads is waited for; -EINTR (lib/interrupt.h). */
int output_open(const char *path, enum output_kind kind, struct output *output,
		struct stackmap_error *error);
void output_take(int fd, struct output *output); /* there is nothing to publish */
int output_publish(struct output *output, struct stackmap_error *error);

/* All of it, or the file is cut back to what was there before (where it can be) and -errno. Whoever
 * reads it is waited for; once the end was asked for, only while he goes on reading: -EINTR. */
int output_write(struct output *output, const void *data, size_t bytes);

/* Removes what was not published. */
int output_close(struct output *output);

/* Async-signal-safe: removes the temporary name that the last opened output has, if any. */
void output_remove_temporary(void);

#endif
