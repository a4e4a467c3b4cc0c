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
#include <sys/stat.h>

#include "scalar.h"
#include "stackmap/error.h"

/*
 * The folder and name that an output gets. In a folder that all users may write to, another user
 * may have put a file or link in the way: such a link is never followed, and such a file is never
 * written.
 */

struct output_place {
	int folder; /* descriptor with O_PATH */
	char name[NAME_MAX + 1];
	bool exists;
	struct stat status; /* the existing file; a link only if the kernel made it */
};

/* True for files of root and of this user. */
bool output_place_trusts(uid_t owner);

/*
 * Finds the place of `path`; follows links of trusted owners. -EPERM: a link of another user;
 * -ELOOP, -ENAMETOOLONG, or the error of the kernel.
 */
int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error);
void output_place_close(struct output_place *place);

/*
 * Checks that a file may be put at the place, instead of an existing file. `kept`: the existing
 * file becomes NAME.old. Other errors show when the file is written.
 */
int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error);

/* Sets the error of an output that cannot be written, and returns `result`, which is -errno. */
int output_failed(const char *path, int result, struct stackmap_error *error);

/* Writes NAME.old; false if the name is too long. */
bool output_place_old(const struct output_place *place, char old[NAME_MAX + 1]);

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
