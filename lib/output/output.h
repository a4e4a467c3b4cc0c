/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The output of a command. A regular file is made anew, without a name (O_TMPFILE) or, if the file
 * system cannot do that, under a temporary name; output_publish() gives it its name. Therefore a
 * failure before that changes no existing file, no other user's file is written, and a killed
 * process leaves no file.
 *
 * "-" is standard output. A FIFO or a device is written in place if it is ours or root's: another
 * user's could be a trap to receive the data.
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
	OUTPUT_RECORDING, /* readable for its owner only; an older file becomes NAME.old */
	OUTPUT_EXPORT,	  /* mode by the umask, or of our own file that it replaces */
};

struct output {
	int fd;
	u64 written; /* bytes of whole blocks */
	bool waits;  /* a pipe, a terminal...: writes wait for its reader */
	enum output_kind kind;
	char *path;		      /* path as the user wrote it */
	bool is_file;		      /* true: output_publish() gives it its name */
	struct output_place place;    /* folder and name that it gets */
	char temporary[NAME_MAX + 1]; /* "": no temporary name */
	bool published;
};

/* Opens an output. Waits for the reader of a FIFO; -EINTR: interrupted (lib/interrupt.h). */
int output_open(const char *path, enum output_kind kind, struct output *output,
		struct stackmap_error *error);
void output_take(int fd, struct output *output); /* an open descriptor, which is not published */
int output_publish(struct output *output, struct stackmap_error *error);

/*
 * Writes all bytes; on failure cuts a regular file back to its former length and returns -errno.
 * Waits for the reader of a pipe; once the end was requested, only while the reader goes on
 * reading: -EINTR.
 */
int output_write(struct output *output, const void *data, size_t bytes);

/* Closes the output and removes an unpublished file. */
int output_close(struct output *output);

/*
 * Async-signal-safe: removes the temporary name of the output that was opened last, if it has one.
 */
void output_remove_temporary(void);

#endif
