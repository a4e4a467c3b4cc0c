/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a recording, one struct for all that record: `record`, `start`, `top`, `agent` and
 * the library (stackmap/capture.h). An option of which all bytes are 0 was not given. Which options
 * exclude each other is one table, in session_options.c.
 */
#ifndef LIB_SESSION_OPTIONS_H
#define LIB_SESSION_OPTIONS_H

#include "array.h"
#include "capture/capture.h"
#include "capture/source/source.h"
#include "config.h"
#include "number_list.h"

/* How an instance is read. */
enum session_use {
	SESSION_TAKE,	      /* its events are taken out; a flight recorder is refused */
	SESSION_TAKE_OR_COPY, /* of a flight recorder, one copy of what it holds */
	SESSION_TAKE_OR_VIEW, /* of a flight recorder, copies again and again */
	SESSION_COPY,	      /* of any instance, one copy of what it holds */
};

struct session_options {
	struct string_list events; /* words as -e takes them; none: CPU samples */
	u64 frequency;		   /* Hz */
	u64 period;		   /* occurrences of a perf event for each event of it */
	bool off_cpu, wakers, locks, time, origins;
	bool trace_ids;	     /* events have the trace and span of their thread */
	u64 leaks_every;     /* one allocation is taken for so many bytes on average; 0: all */
	bool leaks;	     /* memory that is not freed when the recording ends */
	const char *command; /* its name, for `leaks`; NULL: none, or not known */
	bool no_kernel, no_user;
	const char *user_unwind; /* "auto", "fp" or "none"; NULL: auto */
	bool user_at_syscall;
	u64 max_depth; /* frames of a user stack */

	bool all;		  /* tasks of the whole machine */
	bool has_command;	  /* a command is started for the recording */
	struct string_list pids;  /* "12", "12,34" */
	struct string_list comms; /* globs */
	const char *cgroup;	  /* directory of a cgroup2 file system */
	const char *cpus;	  /* "0-3,8" */

	u64 ring, flight, pool; /* bytes */
	u64 bits;		/* the stack map holds 2^bits stacks */
	bool no_dedup;

	const char *instance; /* its events, instead of those of own programs */
	enum session_use use; /* of the instance */

	const char *output; /* file; NULL: no file */
	const char *rotate; /* "60s", "10min", "2h", "100M" */
	u64 keep;	    /* files of a rotation, or snapshots */

	struct string_list stop_when, snapshot_when; /* triggers, words as -e takes them; of an
						      * instance, names of its events */
	const char *after; /* a trigger acts so long after its event: "500ms", "5s" */
	const char *at;	   /* events begin then: "12:00:00" */

	/* For sessions that do not come from a command line. */
	bool lenient;	      /* a frequency is no error where no source is sampled */
	bool has_files;	      /* the programs stay as an instance with files */
	bool windows;	      /* without `output`: events come as recordings in memory */
	const char *name;     /* of a window, in messages */
	const char *host;     /* in the recordings; NULL: the machine's name */
	u64 window_events;    /* a window is full with so many; 0: never */
	u32 names_longest_ms; /* longest wait for names at the end of a window; 0: no limit */
};

/* The tasks that are recorded, before comms, cgroup and cpus filter their events. */
enum session_tasks {
	TASKS_ALL,	  /* of the machine */
	TASKS_OF_PIDS,	  /* the processes of `pids`, and what they start */
	TASKS_OF_COMMAND, /* the command and what it starts */
};

/* The options, checked, as a capture takes them. All zero before. Not moved: `capture` points into
 * the rest, and into the options. */
struct session_target {
	struct source_list sources;
	enum session_tasks tasks;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
	struct number_list pids;	/* each a range of its own */
	int *pidfds;			/* of `pids` */
	u64 cpu_ns_before;		/* CPU time that `pids` had taken when they were chosen */
	struct capture_options capture; /* without the command */
};

/* -EINVAL, -ERANGE: wrong usage. -ENOENT: no such event; -ESRCH: no such process. An instance
 * has no target: only its options are checked. session_target_clear() in any case. */
int session_target_choose(const struct session_options *options, struct session_target *target,
			  struct stackmap_error *error);
void session_target_clear(struct session_target *target);

/* Makes the capture follow the processes of `pids`. */
int session_target_follow(const struct session_target *target, struct capture *capture,
			  struct stackmap_error *error);

/* True if all processes of `pids` have ended; false without them. */
bool session_target_ended(const struct session_target *target);

/* CPU time that the processes of `pids` have taken since they were chosen; UINT64_MAX: a process
 * has ended, so the time is not known. */
u64 session_target_cpu_ns(const struct session_target *target);

#endif
