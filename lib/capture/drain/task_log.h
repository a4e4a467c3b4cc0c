/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who the threads of the events are, and in which cgroup. Those alive at the start come from /proc,
 * later ones, new names and moves from the task rings; a thread that neither knows (its record was
 * lost) is looked up in /proc when its first event comes by.
 */
#ifndef LIB_CAPTURE_TASK_LOG_H
#define LIB_CAPTURE_TASK_LOG_H

#include "config.h"
#include "task_name.h"
#include "trace/write/writer.h"

struct task_log;

struct task_log_options {
	const char *zero; /* what is called by the id 0; it outlives the log */
	int names_fd;	  /* the map task_names: of threads whose records were lost; -1: none */
	const struct cgroup_path *paths; /* the map cgroup_paths, which outlives the log */
	const struct comm_globs *comms;	 /* wanted names, which outlive the log; NULL: all */
	bool ignores_proc;		 /* ids are of another PID namespace than ours */
};

int task_log_create(const struct task_log_options *options, struct task_log **out);
void task_log_free(struct task_log **log);

/* Whether any task of any file so far had a wanted name. */
bool task_log_has_wanted(const struct task_log *log);

/* A file begins: nobody is in it yet. All threads alive now, or the one of this process (0: all).
 */
int task_log_scan(struct task_log *log, struct trace_writer *writer, u32 only);

/* The rings are read again. */
void task_log_round(struct task_log *log);

/* One record of a task ring. `time` is unwrapped. */
int task_log_record(struct task_log *log, struct trace_writer *writer, const struct task_slot *slot,
		    u64 time);

/* All that the rings hold was read in this round: names of threads whose latest record was
 * overwritten. */
int task_log_lost(struct task_log *log, struct trace_writer *writer);

/* An event of this thread goes out. */
int task_log_need(struct task_log *log, struct trace_writer *writer, u32 tid);

#endif
