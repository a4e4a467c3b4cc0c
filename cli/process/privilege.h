/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Giving up privileges, once everything is loaded, attached and open: no capability stays that is
 * not named here.
 */
#ifndef CLI_PRIVILEGE_H
#define CLI_PRIVILEGE_H

#include <stdbool.h>

#include "stackmap/error.h"

struct privilege_needs {
	bool reads_files;	/* symbols and memory of other processes */
	bool ends_command;	/* a command of ours, which may be another user by then */
	bool opens_events;	/* perf events, of CPUs that come online */
	const char *later_file; /* one that is made later; NULL: none */
};

/* Call when there is one thread only. */
int privilege_give_up(const struct privilege_needs *needs, struct stackmap_error *error);

/* The same: EXIT_DONE, or EXIT_FAILED and a message. */
int privilege_drop(const struct privilege_needs *needs);

/* Before a recording is read, which may be of anybody: what stays opens files, no more. */
void privilege_keep_files(void);
/* The same where the kernel's own files are read, which show addresses to who may see them. */
void privilege_keep_kernel_files(void);

#endif
