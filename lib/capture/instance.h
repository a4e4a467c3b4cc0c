/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a struct capture is made of, for the files that implement it: memory shared with the
 * programs, and how far it has been read. */
#ifndef LIB_CAPTURE_INSTANCE_H
#define LIB_CAPTURE_INSTANCE_H

#include "capture/bpffs/engine_folder.h"
#include "capture/capture.h"
#include "capture/generation.h"
#include "capture/load/attach.h"
#include "capture/load/ring_reader.h"
#include "capture/read/answer_join.h"
#include "capture/read/pending.h"
#include "capture/read/task_log.h"
#include "lane.h"

/* An array map whose values user space sees. */
struct shared_array {
	void *memory;
	void *live; /* while `memory` is a private copy: what it is a copy of */
	u64 bytes;
	u64 stride; /* from value to value */
};

/* What the reader knows of one CPU. */
struct cpu_reader {
	u64 events;	     /* handed to the writer, of the current file */
	u64 passed_over;     /* flight: older events in slots that writers could not claim */
	u64 end;	     /* of this round: its deliveries are known up to here */
	u64 limit;	     /* of this file, once it is to end; 0: none */
	u64 task_limit;	     /* the same, of the task ring */
	u64 epoch_end;	     /* capture/read/answer_join.h */
	u64 consumed_before; /* by readers, when the file began */
	u64 swap_end;	     /* behind it there is nothing of the generation before `seen` */
};

struct about;
struct assisted;

/* Frames: kernel address, or mapping and offset. */
struct addresses {
	u64 *items; /* ascending, each once */
	u32 count;
	u32 room;
};

struct capture {
	const struct source_list *sources;
	struct plan plan;
	struct engine *engine;
	struct attachment attachment;
	struct stackmap_error
		refusal;     /* of the programs of a better way to user stacks; or empty */
	struct about *about; /* of an instance that was opened; it has its sources */
	int about_fd;	     /* the map; -1: not made */
	int settle_program;  /* bpf/deferral/settle.h; -1: not loaded */
	int *programs;	     /* of an instance that was opened */
	u32 program_count;
	bool running; /* events may come at any time */
	bool foreign; /* its ids are of another PID namespace: they mean nobody to us */
	struct generations generations;
	struct shared_array rings;
	struct shared_array task_rings;
	struct shared_array lanes;
	struct shared_array mappings;
	struct shared_array rules;
	struct shared_array cgroup_paths;
	struct task_log *tasks;
	struct symbolizers *symbolizers;
	struct answer_join *join; /* NULL: user stacks are not deferred; so is the next */
	struct assisted *assisted;
	struct pending_list pending; /* of the moment of a snapshot, a sweep, or the end */
	struct cpu_reader *cpus;
	u64 time_limit;			  /* ns: no stamp read in this round is later */
	u8 mapping_written[MAPPINGS_MAX]; /* in the current file */
	struct addresses named;		  /* asked for already, for the current file */
	bool named_ahead;		  /* capture_name_ahead() has waited for them */
	u64 code_met;			  /* mappings written so far */
	struct trace_ledger written; /* reasons and counts of the events handed to the writer */
};

/* The common set's object. */
struct capture_bpf *capture_programs(const struct capture *capture);

struct ring_view capture_ring(const struct capture *capture, u32 cpu);
struct ring_view capture_task_ring(const struct capture *capture, u32 cpu);
struct mapping_record *capture_mapping(const struct capture *capture, u32 number);

/* One with nothing in it, or NULL. */
struct capture *capture_new(void);

/* Memory that programs and reader share, and what the reader needs: the maps are there. */
int capture_share(struct capture *capture);

/* A new file begins: nothing is in it yet. -ENOMEM. */
int capture_forget_written(struct capture *capture);

#endif
