/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The process contexts that a recorder keeps for its files (OpenTelemetry, OTEP 4719). The bytes
 * are the processes' own, unchecked.
 *
 * A recorder may run for days, and every process can publish. The contexts therefore have limits,
 * of all processes and of the processes of each user but root. A context that exceeds a limit is
 * refused, and the process keeps its earlier context, if there is one. Refused processes are
 * counted, each once a file. Processes that have ended leave after the next file, which is the
 * last one that can have their events.
 *
 *   bytes = sum of all kept messages <= PROCESS_CONTEXTS_BYTES_MAX
 *   number of kept messages <= PROCESS_CONTEXTS_MAX
 */
#ifndef LIB_SYMBOL_PROCESS_CONTEXTS_H
#define LIB_SYMBOL_PROCESS_CONTEXTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/event.h"

#define PROCESS_CONTEXTS_MAX 4096
#define PROCESS_CONTEXTS_BYTES_MAX (4U << 20)
/* The limits of each user but root: a quarter of all. */
#define USER_CONTEXTS_MAX 1024
#define USER_CONTEXTS_BYTES_MAX (1U << 20)

struct process_contexts;

/* Sets the user whose limits count for a process: its real user, or 0, which is root, if the real
 * user cannot be read. The owner of /proc/PID would not do: it is root for each process that is not
 * dumpable, and any process can make itself not dumpable. False: the process has ended. */
bool process_contexts_read_user(u32 tgid, uid_t *uid);

/* Creates an empty list of contexts. 0 or -ENOMEM. */
int process_contexts_create(struct process_contexts **out);
void process_contexts_free(struct process_contexts **contexts);

/* Keeps a copy of a process's context, in place of its earlier one, or refuses it. `uid`: user of
 * the process. */
void process_contexts_keep(struct process_contexts *contexts, const struct trace_process *process,
			   uid_t uid);

/* Drops the context of a process, if there is one. */
void process_contexts_drop(struct process_contexts *contexts, u32 tgid, u64 since);

/* Calls each() for all contexts, until it returns an error, which is returned. */
int process_contexts_each(const struct process_contexts *contexts,
			  int (*each)(void *arg, const struct trace_process *process), void *arg);

/*
 * Called when all contexts were written to a file. Drops the processes that had ended at the call
 * before; with `keeps_ended` only if contexts were refused since then: files of a flight recorder
 * may all have the same events. Returns how many processes were refused since the call before.
 */
u64 process_contexts_end_file(struct process_contexts *contexts, bool keeps_ended);

#endif
