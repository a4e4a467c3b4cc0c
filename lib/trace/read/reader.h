/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads one recording. A truncated or damaged file is read up to the last whole block, and
 * trace_reader_damage() has the position and the cause. Every length, index and count is checked.
 *
 * All returned pointers belong to the reader and are valid until trace_reader_close().
 */
#ifndef LIB_TRACE_READ_READER_H
#define LIB_TRACE_READ_READER_H

#include <stdbool.h>

#include "scalar.h"
#include "stackmap/error.h"
#include "trace/event.h"

struct trace_reader;

/* True if the file begins like a recording of any version; false if it cannot be read. */
bool trace_reader_is_recording(int fd);

/* -ENOENT..., -EBADMSG: not a recording (error names the offset); -EPROTONOSUPPORT: a newer
 * version. A damaged or unfinished file is opened with its valid blocks. */
int trace_reader_open(const char *path, struct trace_reader **out, struct stackmap_error *error);
/* Reads an open regular file, which is called `name` in messages. The reader closes `fd` in any
 * case.
 */
int trace_reader_open_fd(int fd, const char *name, struct trace_reader **out,
			 struct stackmap_error *error);
void trace_reader_close(struct trace_reader **reader);

/* The path or name that the recording was opened with. */
const char *trace_reader_name(const struct trace_reader *reader);

/* Reserves memory in the reader's limit, which is proportional to the file's size. Callers reserve
 * memory before each allocation whose size depends on the file's contents. 0, or -ENOMEM, which
 * also sets the damage. The reservation is never returned. */
int trace_reader_count_memory(struct trace_reader *reader, u64 bytes);

/* Returns NULL if the file is whole; else the cause of the damage. */
const struct stackmap_error *trace_reader_damage(const struct trace_reader *reader);
/* Sets the damage that a caller has found, for example in the events. The first damage is kept. */
void trace_reader_set_damage(struct trace_reader *reader, const struct stackmap_error *why);

/* True if all readers together stay in the memory limit of one recording of their total size. */
bool trace_readers_fit_memory_limit(struct trace_reader *const *readers, u32 count);

const struct trace_info *trace_reader_info(const struct trace_reader *reader);
u32 trace_reader_sources(const struct trace_reader *reader, const struct trace_source **sources);
/* The index of the source with this name, which is the `kind` of its events, or TRACE_NO_SOURCE. */
#define TRACE_NO_SOURCE UINT32_MAX
u32 trace_reader_source_named(const struct trace_reader *reader, const char *name);
/* Chooses which of an event's two values becomes its `value`: "1", "2", or the name or the unit of
 * a value; a name is tried before a unit. Events whose source lacks this value are not changed.
 * -ENOENT: no source has the value. */
int trace_reader_choose_value(struct trace_reader *reader, const char *value,
			      struct stackmap_error *error);
u32 trace_reader_stacks(const struct trace_reader *reader, const struct trace_stack **stacks);
u32 trace_reader_modules(const struct trace_reader *reader, const struct trace_module **modules);
/* The module that stands for the kernel's image, or NULL. */
const struct trace_module *trace_reader_kernel(const struct trace_reader *reader);
/* The module that contains an address. NULL: no module contains it. */
const struct trace_module *trace_reader_module_of(const struct trace_reader *reader, u64 address);
u32 trace_reader_mappings(const struct trace_reader *reader, const struct trace_mapping **mappings);
/* Sets *cgroups to all cgroups and returns their count; the first cgroup has number 1. */
u32 trace_reader_cgroups(const struct trace_reader *reader, const struct trace_cgroup **cgroups);
u32 trace_reader_tasks(const struct trace_reader *reader, const struct trace_task **tasks);
/* An account with thread id 0 is the sum of ended threads whose accounts found no room. */
u32 trace_reader_accounts(const struct trace_reader *reader,
			  const struct thread_account **accounts);
u32 trace_reader_contexts(const struct trace_reader *reader, const struct trace_context **contexts);
/* Sets *attributes to the attributes of threads, and returns their count; the first ones have
 * number 1. */
u32 trace_reader_attributes(const struct trace_reader *reader,
			    const struct trace_attributes **attributes);
/* The trace, span and attributes of an event. NULL: the event has none. */
const struct trace_context *trace_reader_context(const struct trace_reader *reader,
						 const struct trace_event *event);
/* Sets *processes to the process contexts, in the order of process ids and times, and returns their
 * count; the first one has number 1. */
u32 trace_reader_processes(const struct trace_reader *reader,
			   const struct trace_process **processes);
/* The number of the context of the process that had the id at a time; 0: the process has no
 * context. */
u32 trace_reader_process(const struct trace_reader *reader, u32 tgid, u64 time);
/* The numbers of an event's attributes. `task`: the event's task at the time, or NULL. */
struct attribute_numbers trace_reader_attribute_numbers(const struct trace_reader *reader,
							const struct trace_event *event,
							const struct trace_task *task);
u32 trace_reader_symbols(const struct trace_reader *reader, const struct trace_symbol **symbols);
/* The ledger of the recording. NULL: the recording was not finished and has no ledger. */
const struct trace_ledger *trace_reader_ledger(const struct trace_reader *reader);
u32 trace_reader_cpu_ledgers(const struct trace_reader *reader,
			     const struct trace_cpu_ledger **cpus);
/* Sets *sources to the ledgers of sources, by kind, and returns their count. 0: the recording has
 * no ledgers of its sources. */
u32 trace_reader_source_ledgers(const struct trace_reader *reader,
				const struct trace_source_ledger **sources);

const struct trace_mapping *trace_reader_mapping(const struct trace_reader *reader,
						 /* the mapping with this number, or NULL */
						 u32 number);

/* The task of a thread at a time, or NULL if it is not known. */
const struct trace_task *trace_reader_task(const struct trace_reader *reader, u32 tid, u64 time);

/* The symbol that covers a frame, or NULL. A return address is looked up by the byte before it. */
const struct trace_symbol *trace_reader_symbol(const struct trace_reader *reader, u64 frame,
					       bool return_address);

/* Calls `each` for all events in the order of time (equal times: by CPU). Stops at the first
 * non-zero result, which is returned. Indexes in events are valid. */
int trace_reader_events(struct trace_reader *reader,
			int (*each)(void *arg, const struct trace_event *event), void *arg,
			struct stackmap_error *error);

#endif
