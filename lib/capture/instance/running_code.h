/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of what runs already (docs/internals/file_tables.md): the files that processes have
 * mapped as code are numbered by a program (bpf/mapping/running_code.h), and converted by the
 * symbolizers, those of most mappings first. Without tables stacks are deferred, so nobody is told
 * of errors.
 */
#ifndef LIB_CAPTURE_RUNNING_CODE_H
#define LIB_CAPTURE_RUNNING_CODE_H

#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

/* Asks for the tables of what these processes have mapped; none: of all. Of `most` files. */
void running_code_ask(const struct loaded *loaded, struct symbolizers *symbolizers,
		      const struct number_list *pids, u32 most);

/* The same, for an instance that nobody may ever read: waits for the tables, at most `ms`. */
void running_code_tabulate(const struct loaded *loaded, struct symbolizers *symbolizers,
			   const struct number_list *pids, u32 ms);

/* Takes what has been answered, and asks on: never waits. -errno: there will be no more. */
int running_code_visit(struct symbolizers *symbolizers);

#endif
