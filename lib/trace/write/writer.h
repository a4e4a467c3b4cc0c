/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes one recording. All records are in checksummed blocks; a block is written whole or the file
 * ends before it, so after a crash all whole blocks can be read. A stack, mapping or source is in
 * the file before the first event that names it.
 *
 * A writer belongs to one thread. Every function returns 0 or -errno; after a write error
 * (-ENOSPC...) the file is cut back to its last whole block, every later call returns the same
 * error, and trace_writer_lost() counts the events that were not written.
 */
#ifndef LIB_TRACE_WRITER_H
#define LIB_TRACE_WRITER_H

#include "stackmap/error.h"
#include "trace/event.h"

struct trace_writer;

/* Builds the recording beside `path`, with mode 0600, until it is published. "-" is standard
 * output; devices and pipes are written as they are. *out is untouched on failure. */
int trace_writer_create(const char *path, const struct trace_info *info, struct trace_writer **out,
			struct stackmap_error *error);

/* Writes into an open file, which is called `name` in messages. The writer closes `fd` in any case.
 */
int trace_writer_create_fd(int fd, const char *name, const struct trace_info *info,
			   struct trace_writer **out, struct stackmap_error *error);

/* Moves the file to `path`, where it continues to grow; an existing file becomes `path`.old. */
int trace_writer_publish(struct trace_writer *writer, struct stackmap_error *error);

int trace_writer_source(struct trace_writer *writer,
			/* sources get the kinds 0, 1, 2... in this order */
			const struct trace_source *source);
int trace_writer_module(struct trace_writer *writer, const struct trace_module *module);
int trace_writer_mapping(struct trace_writer *writer, const struct trace_mapping *mapping);
/* Adds a cgroup and sets *number to its number, which tasks name: 1, 2, 3... */
int trace_writer_cgroup(struct trace_writer *writer, const struct trace_cgroup *cgroup,
			u32 *number);
int trace_writer_task(struct trace_writer *writer, const struct trace_task *task);
/* Sets *number to the number of the context, for events; equal contexts have one number. -EINVAL if
 * trace_info.has_contexts is 0. */
int trace_writer_context(struct trace_writer *writer, const struct trace_context *context,
			 u32 *number);

/* Sets *number to the number of the attributes, for contexts; equal attributes have one number.
 * -EINVAL if trace_info.has_attributes is 0; -E2BIG: the file has too many. */
int trace_writer_attributes(struct trace_writer *writer, const struct trace_attributes *attributes,
			    u32 *number);

/* Adds a process context. -EINVAL if trace_info.has_contexts is 0, or if the
 * message is too long. */
int trace_writer_process(struct trace_writer *writer, const struct trace_process *process);
/* Adds the account of a thread's time. -EINVAL if trace_info.has_times is 0. */
int trace_writer_thread_account(struct trace_writer *writer, const struct thread_account *account);
int trace_writer_symbol(struct trace_writer *writer, const struct trace_symbol *symbol);

/* *index names the stack in events. A stack with id 0 (recorded in full, generation 0) gets an id
 * from the writer, and identical stacks share one index. A stack with an id must be added only
 * once. */
int trace_writer_stack(struct trace_writer *writer, const struct trace_stack *stack, u32 *index);

/* Sets *name to the name of a placeholder, which stands for a user stack that is not known yet, in
 * any number of events of any CPU. A name is never the index of a stack. */
int trace_writer_placeholder(struct trace_writer *writer, u32 *name);

/* Holds an event that is not written yet: if the event names a placeholder, the placeholder's slot
 * is not reused until the event is released. The release gives the event the stack if the stack is
 * known. */
void trace_writer_hold_placeholder(struct trace_writer *writer, const struct trace_event *event);
void trace_writer_release_placeholder(struct trace_writer *writer, struct trace_event *event);

/* Resolves a placeholder. A later placeholder may get the same name. A placeholder that is never
 * resolved reads back as REASON_UNANSWERED. -EINVAL: the resolution names a placeholder. */
int trace_writer_resolve(struct trace_writer *writer, u32 name,
			 const struct trace_resolution *resolution);

/* Events of one CPU come in the order of their ring; their times may go back a little (interrupts).
 * -EINVAL: the event names an unknown source or stack; it has repeats, but is not of a summary and
 * not `is_counted`; or it is `is_counted` and trace_info.has_counted is 0. */
int trace_writer_event(struct trace_writer *writer, const struct trace_event *event);

/* Writes all buffered records, as whole blocks. */
int trace_writer_flush(struct trace_writer *writer);

int trace_writer_ledger(struct trace_writer *writer, const struct trace_ledger *ledger,
			const struct trace_cpu_ledger *cpus, u32 cpu_count);

/* Writes the ledgers of the sources, after trace_writer_ledger(). `lost`: by kind, the number of
 * lost events that are known to be of the source. If trace_info.has_losses is 0, nothing is
 * written. */
int trace_writer_losses(struct trace_writer *writer, const u64 *lost);

/* Calls `each` for every distinct frame in the file (stacks and leaves), for the symbolizer. Stops
 * at the first non-zero result. */
int trace_writer_each_frame(struct trace_writer *writer,
			    int (*each)(void *arg, u64 frame, bool return_address), void *arg);

/* The number of events in whole blocks of the file; an event of a summary counts as one. */
u64 trace_writer_recorded(const struct trace_writer *writer);
/* The number of events in whole blocks that are only counted (is_counted). */
u64 trace_writer_counted(const struct trace_writer *writer);
/* The number of events that are not in the file because of an error. */
u64 trace_writer_lost(const struct trace_writer *writer);
u64 trace_writer_bytes(const struct trace_writer *writer);

/* Finishes the file (end block) and publishes it if no error came before. Sets *writer to NULL.
 * Returns the first error of all. */
int trace_writer_close(struct trace_writer **writer);

/* Closes the writer and removes a file that was not published. Sets *writer to NULL. */
void trace_writer_discard(struct trace_writer **writer);

#endif
