/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drops privileges after everything is loaded, attached and open. Only the capabilities listed here
 * are kept.
 */
#ifndef CLI_PRIVILEGE_H
#define CLI_PRIVILEGE_H

#include <stdbool.h>

#include "stackmap/error.h"

struct privilege_needs {
	bool reads_files;  /* symbols and memory of other processes */
	bool ends_command; /* ends the recorded command, which may run as another user by then */
	bool opens_events; /* perf events, of CPUs that come online */
	const char *later_file; /* a file that is made later; NULL: no file */
};

/* Call while the process has one thread. */
int privilege_give_up(const struct privilege_needs *needs, struct stackmap_error *error);

/* Drops privileges: EXIT_DONE, or EXIT_FAILED and a message. */
int privilege_drop(const struct privilege_needs *needs);

/* Called before an untrusted recording is read; only capabilities for opening files are kept. */
void privilege_keep_files(void);
/* Like privilege_keep_files(), and keeps access to kernel files that show addresses to
 * privileged readers only. */
void privilege_keep_kernel_files(void);

/* Raises the soft limit of open files to the hard limit. Processes forked before keep their limit.
 */
void file_limit_raise(void);

#endif
