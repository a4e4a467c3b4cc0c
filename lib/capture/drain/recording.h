/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One file that is being written from the rings: how far they were read, and what is in the file
 * already. A reader has one from its first file to its last (capture/file/recording_file.h). One
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
	READ_DRAIN,    /* what is read is taken: the one reader of the instance */
	READ_SNAPSHOT, /* of a moment, or of what is left at the end: the rings keep it */
	READ_LIVE, /* a snapshot of an instance of another process, which has readers of its own */
};

/* What the reader knows of one CPU. */
struct cpu_reader {
	u64 events;	     /* handed to the writer, of the current file */
	u64 passed_over;     /* flight: older events in slots that writers could not claim */
	u64 end;	     /* of this round: its deferred stacks are known up to here */
	u64 limit;	     /* of this file, once it is to end; 0: none */
	u64 task_limit;	     /* the same, of the task ring */
	u64 epoch_end;	     /* capture/drain/deferred_stack.h */
	u64 consumed_before; /* by readers, when the file began */
	u64 swap_end;	     /* behind it there is nothing of the generation before the one seen */
};

/* Of the stack map: for each slot of either table whether the current file has its stack. */
struct written_stack {
	u32 index;     /* + 1; 0: it is not in it yet */
	u32 stop : 8;  /* enum stop_reason */
	u32 vain : 24; /* as in struct stack_ref */
};

struct written_table {
	struct written_stack *items; /* by slot; NULL: not made */
	u64 generation;		     /* that they are of; 0: of another file */
};

struct deferred;
struct ring_buffer;
struct symbolizers;

struct recording {
	struct loaded *loaded;
	struct symbolizers *symbolizers;
	struct trace_writer *writer; /* of the file */
	enum read_mode mode;	     /* of the file */
	struct task_log *tasks;
	struct deferred *deferred;    /* NULL: user stacks are not */
	struct ring_buffer *times;    /* thread_times.h; NULL: threads have no accounts */
	struct ring_buffer *new_code; /* new mappings; NULL: no user stacks */
	int times_result;
	struct cpu_reader *cpus;
	u64 time_limit;	     /* ns: no stamp read in this round is later */
	u64 generation_seen; /* of the stack map */
	struct written_table stacks[TABLE_ROLES];
	bool mapping_met[MAPPINGS_MAX];	    /* in this file or one before */
	bool mapping_written[MAPPINGS_MAX]; /* in the file */
	struct pace pace;
	struct frame_addresses named; /* asked for already, for the file */
	bool named_ahead;	      /* recording_ask_ahead() has waited for them */
	u64 next_ask;		      /* ms: recording_ask_ahead() asks again; 0: not asked yet */
	u64 next_learn, learn_ms; /* ms: recording_learn_names() asks again, and the time between */
	bool kernel_asked;	  /* its list of symbols is read ahead */
	u64 names_until;    /* clock_ms(): the wait for any name ends then; 0: no such limit */
	u64 moved_next;	    /* clock_ms(): moved code is looked for again */
	u32 marked_tables;  /* symbolizers_marked_tables() that programs know of */
	u32 moved_files;    /* mappings that count as parts of files (symbolizer/moved_check.h) */
	u64 tabulate_again; /* ms: when tables are asked for once more */
	struct trace_ledger written; /* reasons and counts of the events handed to the writer */
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
