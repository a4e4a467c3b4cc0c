/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The output of a command. A regular file is created without a name (O_TMPFILE) or, if the file
 * system does not support that, under a temporary name; output_publish() gives the file its name. A
 * failure before output_publish() therefore changes no existing file, no file of another user is
 * written, and a killed process leaves no file.
 *
 * "-" is standard output. A FIFO or a device is written directly if this user or root owns it: the
 * owner of another FIFO could receive the data.
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
 * may have put a file or a link with this name. Such a link is never followed, and such a file is
 * never written.
 */

struct output_place {
	int folder; /* descriptor of the folder, opened with O_PATH */
	char name[NAME_MAX + 1];
	bool exists;
	/* status of the existing file; it can be the status of a link only if the link is in
	 * /proc */
	struct stat status;
};

/* True if root or this user owns the file or link. */
bool is_output_owner_trusted(uid_t owner);

/*
 * Finds folder and name for `path`; follows links of trusted owners. -EPERM: a link of another
 * user; -ELOOP, -ENAMETOOLONG, or the error of the kernel.
 */
int output_place_find(const char *path, struct output_place *place, struct stackmap_error *error);
void output_place_close(struct output_place *place);

/*
 * Checks that a file may get this name, in place of an existing file. `kept`: the existing file
 * becomes NAME.old. All other errors are reported when the file is written.
 */
int output_place_check(const struct output_place *place, bool kept, const char *path,
		       struct stackmap_error *error);

/* Sets the error of an output that cannot be written, and returns `result`, which is -errno. */
int set_output_write_error(const char *path, int result, struct stackmap_error *error);

/* Sets `old` to the name with ".old" at its end; false if that is too long. */
bool output_name_of_old_file(const struct output_place *place, char old[NAME_MAX + 1]);

enum output_kind {
	OUTPUT_RECORDING, /* a recording: only its owner may read the file; an existing file becomes
			     NAME.old */
	OUTPUT_EXPORT, /* an export: the file gets its mode by the umask, or the mode of a replaced
			  file of this user */
};

struct output {
	int fd;
	u64 written; /* number of bytes that output_write() has written */
	bool waits;  /* the output is a pipe, a terminal...: writes wait until the reader has made
			room */
	enum output_kind kind;
	char *path;   /* path as the user wrote it */
	bool is_file; /* the output is a regular file, which output_publish() gives its name */
	struct output_place place; /* folder and name of the file */
	/* Temporary name of the file; "": the file has no temporary name. */
	char temporary[NAME_MAX + 1];
	bool published;
};

/* Opens an output. Waits for the reader of a FIFO; -EINTR: interrupted (lib/interrupt.h). */
int output_open(const char *path, enum output_kind kind, struct output *output,
		struct stackmap_error *error);
/* Makes an output of an open descriptor; output_publish() ignores this output. */
void output_wrap_descriptor(int fd, struct output *output);
int output_publish(struct output *output, struct stackmap_error *error);

/*
 * Writes all bytes; on failure a regular file is cut back to its former length, and -errno is
 * returned. The function waits while a pipe is full. After the user has requested the end, the wait
 * stops with -EINTR if the reader does not read.
 */
int output_write(struct output *output, const void *data, size_t bytes);

/* Closes the output and removes an unpublished file. */
int output_close(struct output *output);

/*
 * Async-signal-safe: removes the temporary name of the output that was opened last, if it has one.
 */
void output_remove_temporary(void);

#endif
