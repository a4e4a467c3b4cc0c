/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables of running code (docs/internals/file_tables.md): a BPF program numbers the files
 * that processes have mapped as code (bpf/mapping/running_code.h), and symbolizers convert their
 * tables, files with the most mappings first. Without tables stacks are deferred, so errors are not
 * reported.
 */
#ifndef LIB_CAPTURE_RUNNING_CODE_H
#define LIB_CAPTURE_RUNNING_CODE_H

#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

/* Requests the tables of at most `most` files of these processes; an empty list stands for all
 * processes. */
void running_code_ask(const struct loaded *loaded, struct symbolizers *symbolizers,
		      const struct number_list *pids, u32 most);

/* Requests the tables of all files, and waits for them, at most `ms`: an instance may have no
 * reader later. */
void running_code_tabulate(const struct loaded *loaded, struct symbolizers *symbolizers,
			   const struct number_list *pids, u32 ms);

/* Takes answers and sends requests; never waits. -errno: no more answers will come. */
int running_code_visit(struct symbolizers *symbolizers);

#endif
