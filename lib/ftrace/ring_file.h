/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace.dat of trace-cmd. The file is untrusted, so a sandbox (privilege/sandbox.h) parses it,
 * and the sandbox's answers are checked: kinds and sizes of entries, ends of texts.
 */
#ifndef LIB_FTRACE_RING_FILE_H
#define LIB_FTRACE_RING_FILE_H

#include <stdbool.h>

#include "ftrace/entry.h"
#include "stackmap/error.h"
#include "symbol/table/symbol_table.h"

struct ring_file;

/* `buffer`: the instance to read; NULL: the top level, or if that is empty, the only instance.
 * -errno; -EBADMSG: not a whole trace.dat; -ENOENT: the file has no such instance. */
int ring_file_open(const char *path, const char *buffer, struct ring_file **out,
		   struct stackmap_error *error);
void ring_file_close(struct ring_file **ring);

u32 ring_file_cpus(const struct ring_file *ring);

/* Passes all entries to the sink, in the order of time. Called once. */
int ring_file_each(struct ring_file *ring, struct ftrace_sink sink, struct stackmap_error *error);

/* The kernel's symbol at an address, as the file has it. ring_file_each() may be running. The name
 * lives until the next call. */
bool ring_file_symbol(struct ring_file *ring, u64 address, struct symbol *symbol);

#endif
