/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is loaded into the kernel for one capture, and the memory that this process shares with it:
 * programs, rings, counters, the two tables of the stack map. It was loaded by this process, or
 * opened from the pins of another (capture/instance/open.h). It knows nothing of files that are
 * written. One thread uses it.
 */
#ifndef LIB_CAPTURE_LOADED_H
#define LIB_CAPTURE_LOADED_H

#include "capture/bpffs/engine_folder.h"
#include "capture/load/ahead.h"
#include "capture/load/attach.h"
#include "capture/load/generation.h"
#include "capture/load/options.h"
#include "capture/load/plan.h"
#include "capture/load/ring_reader.h"
#include "rule.h"
#include "scratch.h"

/* An array map whose values user space sees. */
struct shared_array {
	void *memory;
	void *live; /* while `memory` is a private copy: what it is a copy of */
	u64 bytes;
	u64 stride; /* from value to value */
};

struct loaded {
	const struct source_list *sources;
	struct plan plan;
	struct engine *engine; /* NULL: opened */
	struct attachment attachment;
	struct ahead ahead;
	int unwind_blocked_program; /* bpf/deferral/unwind_blocked.h; -1: not loaded */
	int running_code_program;   /* bpf/mapping/running_code.h; -1: not loaded */
	int *programs;		    /* of events; opened */
	u32 program_count, program_room;
	pid_t beside; /* a process of ours that the programs leave out, too; 0: none */
	bool opened;  /* another process loaded it, or did before */
	bool running; /* events may come at any time */
	bool foreign; /* its ids are of another PID namespace: they mean nobody to us */
	struct generation_table tables[TABLE_ROLES];
	struct shared_array rings;
	struct shared_array task_rings;
	struct shared_array scratch_slots;
	struct shared_array mappings;
	struct shared_array rules;
	struct shared_array engine_state;
	struct shared_array cgroup_paths;
	struct shared_array kernel_text;
};

/* Nothing is loaded. */
void loaded_init(struct loaded *loaded);

/* Sizes and filters: loaded->plan. The options' sources must outlive it. */
int loaded_plan(struct loaded *loaded, const struct capture_options *options,
		struct stackmap_error *error);

/* Maps, as planned, their memory, and the program that numbers running code. -EINTR
 * (lib/interrupt.h). On failure, here and below, loaded_free() is still to be called;
 * attachment.refused says whether it was the programs that the kernel refused. */
int loaded_prepare(struct loaded *loaded, struct stackmap_error *error);

/* All programs, which takes the kernel a while: *meanwhile goes on. Nothing is attached. -EINTR. */
int loaded_load(struct loaded *loaded, const struct meanwhile *meanwhile,
		struct stackmap_error *error);

/* Maps the memory that is shared with the programs. By whoever loads or opens. */
int loaded_share(struct loaded *loaded);

/* attachment_free() was called: no program runs for it any more, or it goes on without us. */
void loaded_free(struct loaded *loaded);

/* The common set's object. */
struct capture_bpf *loaded_programs(const struct loaded *loaded);

struct ring_view loaded_ring(const struct loaded *loaded, u32 cpu);
struct ring_view loaded_task_ring(const struct loaded *loaded, u32 cpu);
const struct scratch *loaded_scratch(const struct loaded *loaded, u32 cpu);

/* Writes an event with a value into the ring of CPU 0, and counts it, as a program does. `event`
 * has thread, stamp and stacks. The programs do not run any more. */
void loaded_put_event(const struct loaded *loaded, const struct event_slot *event, u64 value);
/* User stacks by unwind tables, by what became of them at the event. */
struct walk_counts {
	u64 walked;		  /* whole at once */
	u64 table_frames;	  /* by a rule of a whole-file table */
	u64 mapping_walks;	  /* addresses whose mapping was looked up in the kernel */
	u64 script_loops;	  /* loops of interpreters that the script's frames replaced */
	u64 deferred[STOP_COUNT]; /* left for later, by what ended the walk: STOP_IS_DEFERRAL */
};

struct walk_counts loaded_walks(const struct loaded *loaded);
struct mapping_record *loaded_mapping(const struct loaded *loaded, u32 number);

/* Forgets rules and steps that the programs have learned. A file's table may have come with marked
 * code (abi/script.h) since, and these rules have no marks and stand before the table. */
void loaded_forget_rules(struct loaded *loaded);

bool loaded_is_flight(const struct loaded *loaded);

/* Whether user stacks were asked for that this kernel cannot defer, so that an instance without a
 * process has them by frame pointers only. */
bool loaded_lacks_deferral(const struct loaded *loaded);

/* Of one that we loaded: whether its user stacks are unwound for it alone, since it could not share
 * the engine. */
bool loaded_lacks_engine(const struct loaded *loaded);

/* This process is the one whose events are left out, until it exits. */
void loaded_leave_out_self(struct loaded *loaded);

/* Another process of ours, with the next round that is drained. */
void loaded_leave_out(struct loaded *loaded, pid_t pid);

/* Samples at another rate, in Hz, what is sampled at a rate. Of one that this process attached. */
int loaded_set_frequency(struct loaded *loaded, u64 frequency);

/* Samples CPUs that came online since. Of one that this process attached: to be called all the time
 * while events are recorded, as CPUs are looked for ten times a second at most. */
void loaded_follow_cpus(struct loaded *loaded);

/* Whether it can be: events are opened for each CPU. */
bool loaded_is_by_cpu(const struct loaded *loaded);

/* A process, its threads, its descendants, and what all these fork from now on. -ESRCH. */
int loaded_follow(struct loaded *loaded, pid_t pid, struct stackmap_error *error);
/* A child of ours that has yet to execve: itself and what it forks, from then on. */
int loaded_follow_command(struct loaded *loaded, pid_t pid, struct stackmap_error *error);

/* While the command that is followed has yet to begin: its process, if events can be of nobody else
 * but those whom it will start. 0: of others, too. */
pid_t loaded_only_task(const struct loaded *loaded);

/* Events count as lost ("paused") for this reason until it is lifted. When it returns no event is
 * recorded any more. */
void loaded_pause(struct loaded *loaded, enum pause why);
void loaded_resume(struct loaded *loaded, enum pause why);
bool loaded_is_paused(const struct loaded *loaded);

/* Rings and counters become a private copy of one moment, until loaded_thaw(). No event is recorded
 * from then on, lost as "paused", before loaded_go_on(), even if this process is killed. -ENOMEM:
 * there is no copy; the other two are to be called in any case. */
int loaded_freeze(struct loaded *loaded);
void loaded_go_on(struct loaded *loaded);
void loaded_thaw(struct loaded *loaded);
bool loaded_is_frozen(const struct loaded *loaded);

#endif
