/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that is written from the rings: positions in the rings, and the contents of the file so
 * far. A reader has one struct recording for all its files (capture/file/recording_file.h). One
 * thread uses it.
 */
#ifndef LIB_CAPTURE_RECORDING_H
#define LIB_CAPTURE_RECORDING_H

#include "capture/drain/pace.h"
#include "capture/drain/task_log.h"
#include "capture/load/loaded.h"
#include "trace/write/frame_addresses.h"
#include "trace/write/writer.h"

/* How the rings are read. */
enum read_mode {
	READ_DRAIN,    /* consumes events, as the only reader of the instance */
	READ_SNAPSHOT, /* copies events of one moment or of the end; the rings keep them */
	READ_LIVE,     /* a snapshot of an instance that another process may read */
};

/* The reader's state for one CPU. Positions are those of its rings. */
struct cpu_reader {
	u64 events;	     /* events written to the current file, or taken for alive_events.h */
	u64 ended;	     /* those of them that are not in the file: their things have ended */
	u64 passed_over;     /* flight: older events in slots that writers could not claim */
	u64 end;	     /* end of this round; deferred stacks are known up to here */
	u64 limit;	     /* end of this file; 0 = the file goes on */
	u64 task_limit;	     /* the same in the task ring */
	u64 epoch_end;	     /* capture/drain/deferred_stack.h */
	u64 consumed_before; /* events that readers had consumed when the file began */
	u64 counted_before;  /* events that are counted only, in files before this one */
	u64 swap_end;	     /* no later record names the previous generation */
};

/* For a slot of the stack map: the index of the stack in the current file. */
struct written_stack {
	u32 index;     /* index + 1; 0 = not in the file */
	u32 stop : 8;  /* enum stop_reason */
	u32 vain : 24; /* as in struct stack_ref */
};

struct written_table {
	struct written_stack *items; /* by slot; NULL = not allocated */
	u64 generation;		     /* generation of the items; 0 = another file */
};

struct alive_events;
struct context_finder;
struct deferred;
struct ring_buffer;
struct span_stacks;
struct symbolizers;

struct recording {
	struct loaded *loaded;
	struct symbolizers *symbolizers;
	struct trace_writer *writer; /* of the current file */
	enum read_mode mode;	     /* of the current file */
	struct task_log *tasks;
	struct deferred *deferred;	 /* NULL: user stacks are not deferred */
	struct alive_events *alive;	 /* NULL: no source asks for what is alive */
	struct context_finder *contexts; /* NULL: events have no trace ids */
	struct span_stacks *spans;	 /* NULL: no span has the stacks of its begin */
	struct ring_buffer *times;	 /* thread_times.h; NULL: threads have no accounts */
	struct ring_buffer *new_code;	 /* new mappings; NULL: no user stacks */
	int times_result;
	struct cpu_reader *cpus;
	u64 time_limit;	     /* ns; no stamp that is read in this round is later */
	u64 generation_seen; /* the last published generation of the stack map */
	struct written_table stacks[TABLE_ROLES];
	bool mapping_met[MAPPINGS_MAX];	    /* met in this file or an earlier one */
	bool mapping_written[MAPPINGS_MAX]; /* written to the current file */
	struct pace pace;
	struct frame_addresses named; /* frames of the file whose names were requested */
	bool named_ahead;	      /* recording_ask_ahead() has waited for their names */
	u64 next_ask; /* clock_ms() of the next request by recording_ask_ahead(); 0 = no request yet
		       */
	u64 next_learn, learn_ms; /* clock_ms() of the next recording_learn_names(); its interval */
	bool kernel_asked;	  /* the kernel's list of symbols was requested ahead */
	u64 names_until;	  /* clock_ms(); the wait for names ends; 0 = no limit */
	u64 hurries_until;	  /* the same after a request to end; 0 = none came yet */
	u64 moved_next;		  /* clock_ms(); the next search for moved code */
	u32 script_loop_tables;	  /* symbolizers_script_loop_tables() that programs know of */
	u32 moved_files;    /* mappings that count as parts of files (symbolizer/moved_check.h) */
	u64 tabulate_again; /* clock_ms(); tables are requested once more */
	u64 rules_until;    /* clock_ms(); until then programs leave stacks without rules to us */
	struct trace_ledger written; /* reasons and counts of the events of the file */
};

/* *recording must be all 0; `loaded` and `symbolizers` must outlive the recording. -ENOMEM or
 * -errno. The caller calls recording_free() also after a failure. */
int recording_create(struct recording *recording, struct loaded *loaded,
		     struct symbolizers *symbolizers);
void recording_free(struct recording *recording);

/* Begins an empty file, in recording->mode. A drain keeps deferred stacks, for events that were
 * written late. */
void recording_begin_file(struct recording *recording);

/* The mappings that an instance meets for the first time. Their files are opened at once. 0 or
 * -errno. */
int new_code_create(struct recording *recording);
void new_code_free(struct recording *recording);

/* Requests build id and table of all mappings that were reported since the last call. */
void new_code_take(struct recording *recording);

/* A descriptor that is readable while new mappings wait. */
int new_code_fd(const struct recording *recording);

#endif
