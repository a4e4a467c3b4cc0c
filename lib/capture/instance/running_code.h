/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of what runs already (docs/internals/file_tables.md), for an instance that nobody
 * may ever read: the files that processes have mapped as code are numbered by a program
 * (bpf/show/running_code.h), and converted by the symbolizers, those of most mappings first.
 */
#ifndef LIB_CAPTURE_RUNNING_CODE_H
#define LIB_CAPTURE_RUNNING_CODE_H

#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

struct running_code {
	int program;			/* the iterator */
	const struct number_list *pids; /* of these processes; none: of all */
	struct symbolizers *symbolizers;
};

/* Waits for the tables, at most `ms`. Without them stacks are deferred, so nobody is told of
 * errors. */
void running_code_tabulate(const struct running_code *code, const struct loaded *loaded, u32 ms);

#endif
