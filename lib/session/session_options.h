/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a recording, in one struct for everything that records: `record`, `start`, `top`,
 * `agent` and the library (stackmap/capture.h). An option whose bytes are all 0 was not given. The
 * table in session_options.c says which options exclude each other.
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
	/* the instance's events are read and removed; an instance that is a flight recorder is
	   refused */
	SESSION_TAKE,
	/* like SESSION_TAKE; if the instance is a flight recorder, its events are copied once
	   and stay in its rings */
	SESSION_TAKE_OR_COPY,
	/* like SESSION_TAKE; if the instance is a flight recorder, its events are copied
	   repeatedly and stay in its rings */
	SESSION_TAKE_OR_VIEW,
	SESSION_COPY, /* the events of any instance are copied once */
};

struct session_options {
	struct string_list events; /* events as words that -e accepts; empty: CPU samples */
	u64 frequency;		   /* sampling frequency in Hz */
	u64 period; /* number of occurrences of a perf event that make one recorded event */
	bool off_cpu, wakers, locks, time, origins;
	bool trace_ids;	  /* true: events get the trace id and span id of their thread */
	bool count_unmet; /* true: the ledger counts events that do not meet their conditions */
	bool aggregate;	  /* true: the kernel counts events by stack and value, none is recorded */
	u64 leaks_every;  /* one allocation is recorded for this many bytes on average; 0: all */
	bool leaks;	  /* true: record memory that is not freed when the recording ends */
	const char *command; /* name of the command, for `leaks`; NULL: no command, or not known */
	bool no_kernel, no_user;
	/* how user stacks are unwound: "auto", "fp" or "none"; NULL: auto */
	const char *user_unwind;
	bool user_at_syscall;
	u64 max_depth; /* most frames of a user stack */

	bool all;		  /* true: record all tasks of the machine */
	bool has_command;	  /* true: a command is started for the recording */
	struct string_list pids;  /* process ids as texts: "12", "12,34" */
	struct string_list comms; /* globs for names of tasks */
	const char *cgroup;	  /* directory of a cgroup2 file system */
	const char *cpus;	  /* CPUs to record: "0-3,8" */

	u64 ring, flight, pool; /* sizes of the rings, of a flight recorder's rings and of the stack
				   map's memory, in bytes */
	u64 bits;		/* size of the stack map, which holds 2^bits stacks */
	bool no_dedup;

	/* name of an instance; the session reads the instance's events and has no programs of its
	 * own */
	const char *instance;
	enum session_use use; /* how the instance is read */

	const char *output; /* path of the file; NULL: no file */
	const char *rotate; /* when a new file begins: "60s", "10min", "2h", "100M" */
	u64 keep;	    /* number of files of a rotation, or of snapshots, to keep */

	/* triggers: words as -e accepts them; for an instance, names of its events */
	struct string_list stop_when, snapshot_when;
	const char *after; /* delay between a trigger's event and its action: "500ms", "5s" */
	const char *at;	   /* time at which events begin: "12:00:00" */

	/* Only for sessions that do not come from a command line. */
	bool lenient;	/* true: a frequency is accepted even if no source is sampled */
	bool has_files; /* true: the BPF programs keep running as an instance with files in bpffs */
	bool windows;	/* true: without `output`, events are returned as recordings in memory */
	const char *name;     /* name of the recorded windows in messages */
	const char *host;     /* host name stored in recordings; NULL: the machine's name */
	u64 window_events;    /* number of events with which a window is full; 0: no limit */
	u32 names_longest_ms; /* the longest wait for symbols at the end of a window; 0: no limit */
};

/* Which tasks are recorded, before comms, cgroup and cpus filter their events. */
enum session_tasks {
	TASKS_ALL,	  /* all tasks of the machine */
	TASKS_OF_PIDS,	  /* the processes of `pids`, and the processes that they start */
	TASKS_OF_COMMAND, /* the command, and the processes that it starts */
};

/*
 * The checked options in the form that a capture needs. All zero before session_target_choose().
 * The struct must not be moved: `capture` points into its other members, and into the options.
 */
struct session_target {
	struct source_list sources;
	enum session_tasks tasks;
	u64 cpu_mask[CONFIG_CPUS_MAX / 64];
	struct number_list pids;	/* process ids, each as a range of one number */
	int *pidfds;			/* pidfds of `pids` */
	u64 cpu_ns_before;		/* CPU time that `pids` had used when they were chosen */
	struct capture_options capture; /* options of the capture, without the command */
};

/*
 * Checks the options. -EINVAL, -ERANGE: wrong usage. -ENOENT: no such event; -ESRCH: no such
 * process. For an instance, the options are checked but the target stays empty. The caller calls
 * session_target_clear() in any case.
 */
int session_target_choose(const struct session_options *options, struct session_target *target,
			  struct stackmap_error *error);
void session_target_clear(struct session_target *target);

/* Makes the capture follow the processes of `pids`. */
int session_target_follow(const struct session_target *target, struct capture *capture,
			  struct stackmap_error *error);

/* True if all processes of `pids` have ended; false if no processes were chosen. */
bool session_target_ended(const struct session_target *target);

/*
 * CPU time that the processes of `pids` have used since they were chosen; UINT64_MAX: a process has
 * ended, so the time is not known.
 */
u64 session_target_cpu_ns(const struct session_target *target);

#endif
