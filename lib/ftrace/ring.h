/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two places of a ring: an instance in tracefs, and a trace.dat of trace-cmd. */
#ifndef LIB_FTRACE_RING_H
#define LIB_FTRACE_RING_H

#include <stdbool.h>

#include "ftrace/entry.h"
#include "stackmap/error.h"
#include "symbol/table/symbol_table.h"

/* The ring of an instance in tracefs. Reading removes the entries from the ring, like trace_pipe.
 */
struct ring_live;

/* True if the folder is in tracefs. */
bool ring_live_is(const char *folder);

/* Reading will end at the entries of this moment. -ENOTSUP: the ring's clock does not count
 * nanoseconds. */
int ring_live_open(const char *folder, struct ring_live **out, struct stackmap_error *error);
void ring_live_close(struct ring_live **ring);

u32 ring_live_cpus(const struct ring_live *ring);

/* Real time minus the ring's clock, in ns, modulo 2^64. */
u64 ring_live_realtime(const struct ring_live *ring);

/* Passes all entries up to the end to take(), in the order of time; then the ring's losses since
 * it was cleared. */
int ring_live_each(struct ring_live *ring, ftrace_take *take, void *arg,
		   struct stackmap_error *error);

/*
 * A trace.dat of trace-cmd. The file is untrusted, so a sandbox (privilege/sandbox.h) parses it,
 * and the sandbox's answers are checked: kinds and sizes of entries, ends of texts.
 */
struct ring_file;

/* `buffer`: the instance to read; NULL: the top level, or if that is empty, the only instance.
 * -errno; -EBADMSG: not a whole trace.dat; -ENOENT: the file has no such instance. */
int ring_file_open(const char *path, const char *buffer, struct ring_file **out,
		   struct stackmap_error *error);
void ring_file_close(struct ring_file **ring);

u32 ring_file_cpus(const struct ring_file *ring);

/* Passes all entries to take(), in the order of time. Called once. */
int ring_file_each(struct ring_file *ring, ftrace_take *take, void *arg,
		   struct stackmap_error *error);

/* The kernel's symbol at an address, as the file has it. ring_file_each() may be running. The name
 * lives until the next call. */
bool ring_file_symbol(struct ring_file *ring, u64 address, struct symbol *symbol);

#endif
