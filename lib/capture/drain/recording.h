/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a reader that writes the events of the rings to a file: positions in the rings, and
 * what the current file has so far. A reader has one struct recording for all its files, one after
 * the other (capture/file/recording_file.h). One thread uses it.
 */
#ifndef LIB_CAPTURE_RECORDING_H
#define LIB_CAPTURE_RECORDING_H

#include "capture/drain/pace.h"
#include "capture/drain/task_log.h"
#include "capture/load/loaded.h"
#include "hash_index.h"
#include "trace/write/frame_addresses.h"
#include "trace/write/writer.h"

/* How a reader reads the rings. */
enum read_mode {
	READ_DRAIN,    /* consumes events, as the only reader of the instance */
	READ_SNAPSHOT, /* copies the events that the rings have at one moment, or at the end of the
			  capture, and leaves them there */
	READ_LIVE, /* copies events as READ_SNAPSHOT does, from an instance that another process may
		      read at the same time */
};

/* The reader's state for one CPU. Positions are positions in the rings of this CPU. */
struct cpu_reader {
	u64 events; /* number of events that were written to the current file, are held back by
		       alive_events.h, or are begins of spans */
	u64 ended;  /* number of `events` that are not in the file: held events of objects that have
		       ended (alive: sources), and begins of spans */
	u64 passed_over; /* flight recorder: number of older events in slots that writers could not
			    claim */
	u64 end;   /* position up to which this round reads; deferred stacks before it are known */
	u64 limit; /* position at which this file ends; 0 = not set */
	u64 task_limit; /* position in the task ring at which this file ends; 0 = not set */
	u64 epoch_end;	/* head of the ring when the epoch began (capture/drain/deferred_stack.h) */
	u64 consumed_before; /* number of events that readers had consumed when the file began */
	u64 counted_before;  /* number of events that were only counted (abi/counted.h) and that
				earlier files have */
	u64 swap_end; /* records from this position on name no stack of the previous generation */
};

/* For a slot of the stack map: the index that the slot's stack has in the current file. */
struct written_stack {
	u32 index;     /* index in the file + 1; 0 = not in the file */
	u32 stop : 8;  /* enum stop_reason of the stack */
	u32 vain : 24; /* mapping whose code lacks a rule, as stack_ref.vain */
};

struct written_table {
	/* One element for each slot of the stack map; NULL = not allocated. */
	struct written_stack *items;
	u64 generation; /* generation of the stack map that the items are for; 0 = the items are of
			   an earlier file */
};

/* Attributes of threads that the current file has, by their hash (abi/thread_context.h). */
struct written_attributes {
	struct hash_index index;
	struct written_attribute {
		u64 hash;
		u32 number; /* in the file */
	} * items;
	u32 room;
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
	struct trace_writer *writer; /* writer of the current file */
	enum read_mode mode;	     /* mode of the current file */
	struct task_log *tasks;
	struct deferred *deferred;  /* joins deferred user stacks to events; NULL: user stacks are
				       not deferred */
	struct alive_events *alive; /* holds back events of objects that may end (alive_events.h);
				       NULL: no source has the form alive:... */
	/* Finds trace ids in processes; NULL: events have no trace ids. */
	struct context_finder *contexts;
	struct span_stacks *spans; /* holds back begins of spans; NULL: no source has stack=begin */
	struct ring_buffer *times; /* ring buffer with the time accounts of ended threads
				      (thread_times.h); NULL: threads have no accounts */
	struct ring_buffer *new_code; /* ring buffer with the numbers of new mappings; NULL: no user
					 stacks are taken */
	int wake; /* epoll descriptor, readable when code is new or a symbolizer has answered */
	int times_result;
	struct cpu_reader *cpus;
	u64 time_limit; /* CLOCK_MONOTONIC, ns: no event that this round reads is later than this
			   time */
	u64 generation_seen; /* the generation of the stack map that was published last */
	struct written_table stacks[TABLE_ROLES];
	struct written_attributes attributes;
	bool mapping_met[MAPPINGS_MAX]; /* true: the mapping was seen in a stack of this file or of
					   an earlier file */
	bool mapping_written[MAPPINGS_MAX]; /* true: the current file has the mapping */
	struct pace pace;
	struct frame_addresses named; /* frames of the current file whose symbols were requested */
	bool named_ahead; /* true: recording_request_symbols_ahead() has waited for the symbols of
			     `named` */
	u64 next_ask; /* clock_ms() of the next request of recording_request_symbols_ahead(); 0 = no
		       * request yet
		       */
	u64 next_learn, learn_ms; /* clock_ms() of the next request for symbols by
				     recording_request_symbols_now_and_then(), and the interval of
				     requests */
	bool kernel_asked; /* the kernel's list of symbols was requested before the file ends */
	u64 names_until;   /* clock_ms() at which the wait for symbols ends; 0 = no limit */
	u64 hurries_until; /* clock_ms() at which the wait for symbols ends after the user has asked
			      to end; 0 = not asked yet */
	u64 moved_next;	   /* clock_ms() of the next search for code that processes have copied from
			      files (symbolizer/moved_check.h) */
	u32 script_loop_tables; /* number of unwind tables with rules for interpreter loops
				   (symbolizers_script_loop_tables()) at the last call of
				   loaded_forget_rules() */
	u32 moved_files; /* number of mappings without a file that turned out to be copies of parts
			    of files (symbolizer/moved_check.h) */
	u64 tabulate_again; /* clock_ms() after which evicted unwind tables are requested again */
	u64 rules_until; /* clock_ms() until which programs send raw stacks that lack rules to this
			    reader */
	/* Counts of the current file for the ledger: reasons, stops, notes. */
	struct trace_ledger written;
};

/* *recording must be all zeros; `loaded` and `symbolizers` must outlive the recording. -ENOMEM or
 * -errno. The caller calls recording_free() also after a failure. */
int recording_create(struct recording *recording, struct loaded *loaded,
		     struct symbolizers *symbolizers);
void recording_free(struct recording *recording);

/* Begins a new file, in recording->mode. A drain keeps deferred stacks from the file before, since
 * their events may be read in the new file. */
void recording_reset_state_for_new_file(struct recording *recording);

/* A BPF ring buffer with the numbers of mappings that programs of the instance see for the first
 * time. 0 or -errno. */
int new_code_ring_create(struct recording *recording);
void new_code_ring_free(struct recording *recording);

/* Requests the build id and the unwind table of all mappings that were reported since the last
 * call; their files are opened at once. */
void new_code_take_mappings(struct recording *recording);

#endif
