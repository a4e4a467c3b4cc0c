/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drops privileges when everything is loaded, attached and open. Only the capabilities listed in
 * the file privilege.c are kept.
 */
#ifndef CLI_PRIVILEGE_H
#define CLI_PRIVILEGE_H

#include <stdbool.h>

#include "stackmap/error.h"

struct privilege_needs {
	bool reads_files;	/* the process reads symbols and memory of other processes */
	bool ends_command;	/* the process ends the command, which may run as another user */
	bool opens_events;	/* the process opens perf events for CPUs that come online */
	const char *later_file; /* path of a file that is made later; NULL: no file */
};

/* Drops privileges. Call it while the process has one thread. */
int drop_unneeded_privileges(const struct privilege_needs *needs, struct stackmap_error *error);

/* Drops privileges. Returns EXIT_DONE, or EXIT_FAILED after a message. */
int privilege_drop_or_print_error(const struct privilege_needs *needs);

/* Called before an untrusted recording is read; only capabilities for opening files are kept. */
void privilege_keep_reading_of_files(void);
/*
 * Keeps the capabilities of privilege_keep_reading_of_files(), and access to kernel files that show
 * addresses to privileged readers only.
 */
void privilege_keep_reading_of_kernel_files(void);

/* Raises the soft limit of open files to the hard limit. Processes forked before keep their limit.
 */
void raise_open_file_limit(void);

#endif
