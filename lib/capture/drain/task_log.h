/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names, processes and cgroups of threads. Threads that are alive at the start come from /proc;
 * later threads, new names and moves come from the task rings. A thread without both, because its
 * record was lost, is looked up in /proc at its first event.
 */
#ifndef LIB_CAPTURE_TASK_LOG_H
#define LIB_CAPTURE_TASK_LOG_H

#include "config.h"
#include "kept_records.h"
#include "trace/write/writer.h"

struct task_log;

struct task_log_options {
	const char *zero;		 /* the name of thread id 0; outlives the log */
	int names_fd;			 /* the map task_names, for lost records; -1 = no map */
	const struct cgroup_path *paths; /* the map cgroup_paths, which outlives the log */
	const struct comm_globs *comms;	 /* wanted names, which outlive the log; NULL: all */
	bool ignores_proc;		 /* ids are of another PID namespace than ours */
};

int task_log_create(const struct task_log_options *options, struct task_log **out);
void task_log_free(struct task_log **log);

/* True if a task of any file so far had a wanted name. */
bool task_log_has_wanted(const struct task_log *log);

/* Begins a file, and writes all living threads, or those of process `only` (0: all). */
int task_log_scan(struct task_log *log, struct trace_writer *writer, u32 only);

/* Begins a round of reading the rings. */
void task_log_round(struct task_log *log);

/* Takes a record of a task ring. `time` is unwrapped. */
int task_log_record(struct task_log *log, struct trace_writer *writer, const struct task_slot *slot,
		    u64 time);

/* Called when a round has read the whole rings: writes the names of threads whose latest record was
 * overwritten. */
int task_log_lost(struct task_log *log, struct trace_writer *writer);

/* Called before an event of a thread is written: writes the thread, unless it is in the file. */
int task_log_need(struct task_log *log, struct trace_writer *writer, u32 tid);

#endif
