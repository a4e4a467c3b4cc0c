/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes unwind tables for the code of running processes (docs/internals/file_tables.md): a BPF
 * iterator gives the numbers of the files that processes have mapped as code
 * (bpf/mapping/running_code.h), and symbolizers convert the files' tables, files with the most
 * mappings first. Without tables stacks are deferred, so errors are not reported.
 */
#ifndef LIB_CAPTURE_RUNNING_CODE_H
#define LIB_CAPTURE_RUNNING_CODE_H

#include "capture/load/loaded.h"
#include "number_list.h"

struct symbolizers;

/* Requests the unwind tables of at most `most` files that the processes `pids` have mapped, files
 * with the most mappings first; an empty list stands for all processes. */
void running_code_request_tables(const struct loaded *loaded, struct symbolizers *symbolizers,
				 const struct number_list *pids, u32 most);

/* Requests the unwind tables of all files that the processes `pids` have mapped, and waits at most
 * `ms` for the tables. For an instance that may have no reader later. */
void running_code_await_tables(struct loaded *loaded, struct symbolizers *symbolizers,
			       const struct number_list *pids, u32 ms);

/* Takes the answers of the symbolizers and sends further requests; never waits. -errno: no more
 * answers will come. */
int running_code_take_answers(struct symbolizers *symbolizers);

#endif
