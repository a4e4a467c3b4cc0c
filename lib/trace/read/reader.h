/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads one recording, whatever its bytes are: a file that was cut off or damaged gives everything
 * up to the last whole block, and trace_reader_damage() says where and why it ends there. Readers
 * never trust a length, an index or a count.
 *
 * Everything given out belongs to the reader and lives until trace_reader_close().
 */
#ifndef LIB_TRACE_READER_H
#define LIB_TRACE_READER_H

#include "stackmap/error.h"
#include "trace/event.h"

struct trace_reader;

/* -ENOENT..., -EBADMSG: not a recording (error names the offset); -EPROTONOSUPPORT: of a newer
 * version. A damaged or unfinished file opens, with what it holds. */
int trace_reader_open(const char *path, struct trace_reader **out, struct stackmap_error *error);
/* The same of an open regular file, which `name` stands for in messages. The reader closes `fd` in
 * any case. */
int trace_reader_open_fd(int fd, const char *name, struct trace_reader **out,
			 struct stackmap_error *error);
void trace_reader_close(struct trace_reader **reader);

/* What it was opened as. */
const char *trace_reader_name(const struct trace_reader *reader);

/* Who is about to allocate because of what the file holds asks before: a file of few bytes may cost
 * little memory, whatever it unfolds into. 0, or -ENOMEM, which the damage then explains. It is not
 * given back. */
int trace_reader_take(struct trace_reader *reader, u64 bytes);

/* NULL when the file is whole; else why it ends early, or cannot be shown. */
const struct stackmap_error *trace_reader_damage(const struct trace_reader *reader);
/* It is damaged: who reads the events found it, or what it was made of is. The first counts. */
void trace_reader_set_damage(struct trace_reader *reader, const struct stackmap_error *why);

/* Whether all of them together take as little memory as one recording of their size may. */
bool trace_readers_fit(struct trace_reader *const *readers, u32 count);

const struct trace_info *trace_reader_info(const struct trace_reader *reader);
u32 trace_reader_sources(const struct trace_reader *reader, const struct trace_source **sources);
u32 trace_reader_stacks(const struct trace_reader *reader, const struct trace_stack **stacks);
u32 trace_reader_modules(const struct trace_reader *reader, const struct trace_module **modules);
/* The one that is the kernel's image; NULL: there is none. */
const struct trace_module *trace_reader_kernel(const struct trace_reader *reader);
/* The one that an address lies in, or NULL. */
const struct trace_module *trace_reader_module_of(const struct trace_reader *reader, u64 address);
u32 trace_reader_mappings(const struct trace_reader *reader, const struct trace_mapping **mappings);
/* Number 1 comes first. */
u32 trace_reader_cgroups(const struct trace_reader *reader, const struct trace_cgroup **cgroups);
u32 trace_reader_tasks(const struct trace_reader *reader, const struct trace_task **tasks);
u32 trace_reader_symbols(const struct trace_reader *reader, const struct trace_symbol **symbols);
/* NULL: the recording was not finished, there is no ledger. */
const struct trace_ledger *trace_reader_ledger(const struct trace_reader *reader);
u32 trace_reader_cpu_ledgers(const struct trace_reader *reader,
			     const struct trace_cpu_ledger **cpus);

const struct trace_mapping *trace_reader_mapping(const struct trace_reader *reader,
						 u32 number); /* or NULL */

/* The task of a thread at a time, or NULL if it is not known. */
const struct trace_task *trace_reader_task(const struct trace_reader *reader, u32 tid, u64 time);

/* The symbol that covers a frame, or NULL. Return addresses are looked up by the byte before them.
 */
const struct trace_symbol *trace_reader_symbol(const struct trace_reader *reader, u64 frame,
					       bool return_address);

/* All events in the order of time (equal times: by CPU), decoding as it goes. Stops at the first
 * non-zero return of `each` and returns it. Indexes in events are valid. */
int trace_reader_events(struct trace_reader *reader,
			int (*each)(void *arg, const struct trace_event *event), void *arg,
			struct stackmap_error *error);

#endif
