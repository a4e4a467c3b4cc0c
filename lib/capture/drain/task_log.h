/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the names, processes and cgroups of threads to a recording file. Threads that are alive at
 * the start are read from /proc; new threads, new names and moves to other cgroups come from the
 * task rings. If the record of a new thread was lost, the thread is looked up in /proc at its first
 * event, then among the threads of the file before.
 */
#ifndef LIB_CAPTURE_TASK_LOG_H
#define LIB_CAPTURE_TASK_LOG_H

#include "config.h"
#include "kept_records.h"
#include "trace/write/writer.h"

struct task_log;

struct task_log_options {
	const char *zero; /* the name of thread id 0; must outlive the log */
	int names_fd; /* descriptor of the BPF map task_names, which tells names whose record was
			 lost; -1 = no map */
	/* Memory of the BPF map cgroup_paths, which must outlive the log. */
	const struct cgroup_path *paths;
	const struct comm_globs *comms; /* globs of the task names that the user wants; must outlive
					   the log; NULL: all names */
	bool ignores_proc; /* thread ids are those of another PID namespace, so the /proc of this
			      process does not have them */
};

int task_log_create(const struct task_log_options *options, struct task_log **out);
void task_log_free(struct task_log **log);

/* True if a task of any file so far had a name that options.comms matches. */
bool task_log_has_wanted_name(const struct task_log *log);

/* Begins a file, and writes all living threads; with `only` not 0 just the main thread of that
 * process. */
int task_log_begin_file_and_scan_threads(struct task_log *log, struct trace_writer *writer,
					 u32 only);

/* Begins a round of reading the rings. */
void task_log_begin_round(struct task_log *log);

/* Writes the task of a record from a task ring. `time`: the full time of the record. */
int task_log_take_record(struct task_log *log, struct trace_writer *writer,
			 const struct task_slot *slot, u64 time);

/* Called when a round has read the task rings: writes the latest names of threads whose last record
 * was overwritten. */
int task_log_write_lost_names(struct task_log *log, struct trace_writer *writer);

/* Called before an event of a thread is written: writes the thread unless the file has it. */
int task_log_ensure_thread(struct task_log *log, struct trace_writer *writer, u32 tid);

#endif
