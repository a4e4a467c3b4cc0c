/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a ring of ftrace, either from an instance in tracefs or from a trace.dat of trace-cmd. */
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
bool ring_live_is_tracefs_folder(const char *folder);

/* Opens the ring of an instance. The reading will end at the entries that the ring has now.
 * -ENOTSUP: the ring's clock does not count nanoseconds. */
int ring_live_open(const char *folder, struct ring_live **out, struct stackmap_error *error);
void ring_live_close(struct ring_live **ring);

u32 ring_live_cpus(const struct ring_live *ring);

/* Returns real time minus the time of the ring's clock, in ns, modulo 2^64. */
u64 ring_live_realtime_offset(const struct ring_live *ring);

/* Passes all entries until the moment of ring_live_open() to take(), in the order of time; then the
 * losses since the ring was cleared. */
int ring_live_each_entry(struct ring_live *ring, ftrace_take *take, void *arg,
			 struct stackmap_error *error);

/*
 * A trace.dat of trace-cmd. The file is untrusted, so a sandbox (privilege/sandbox.h) parses it,
 * and this process checks the entries that the sandbox sends: kinds, sizes, ends of texts.
 */
struct ring_file;

/* Opens a trace.dat. `buffer`: name of the instance to read; NULL: the top level, or the only
 * instance if the top level is empty. -EBADMSG: not a complete trace.dat; -ENOENT: the file has no
 * such instance; or another -errno. */
int ring_file_open(const char *path, const char *buffer, struct ring_file **out,
		   struct stackmap_error *error);
void ring_file_close(struct ring_file **ring);

u32 ring_file_cpus(const struct ring_file *ring);

/* Passes all entries to take(), in the order of time. Called once. */
int ring_file_each_entry(struct ring_file *ring, ftrace_take *take, void *arg,
			 struct stackmap_error *error);

/* Finds the kernel symbol at an address in the file's own list. May be called during
 * ring_file_each_entry(). The name is valid until the next call. */
bool ring_file_symbol(struct ring_file *ring, u64 address, struct symbol *symbol);

#endif
