/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of a capture in the kernel, and the memory that this process shares with them:
 * programs, rings, counters, the two tables of the stack map. They were loaded by this process, or
 * opened from the pins of another (capture/instance/persist.h). Files that are written are no part
 * of it. One thread uses it.
 */
#ifndef LIB_CAPTURE_LOADED_H
#define LIB_CAPTURE_LOADED_H

#include <pthread.h>
#include <stdbool.h>

#include "capture/bpffs/engine_folder.h"
#include "capture/load/attach.h"
#include "capture/load/plan.h"
#include "capture/load/ring_reader.h"
#include "config.h"
#include "counted.h"
#include "rule.h"
#include "scalar.h"
#include "scratch.h"
#include "symbol/kernel/kernel_image.h"
#include "table.h"
#include "trigger_state.h"

/* Slow work that needs no programs, done by a thread while programs are loaded. */
struct ahead {
	int list_symbols; /* set by the caller: the program for text_ranges_read() */
	bool reads_text;  /* set by the caller: read the kernel's functions */
	bool opens_event; /* set by the caller: prepare the kernel for perf events of tasks */
	bool has_thread;
	bool is_done;
	pthread_t thread;
	struct kernel_text *text;
	struct kernel_copy copy; /* the list that `text` was read from; -1, -1 = taken */
	int result;
};

struct loaded;

#define GENERATION_FIRST 1

struct generation_table {
	int fd; /* -1 = not made */
	u32 id; /* of the map in the kernel */
	void *memory;
};

/* Make one more table, or add the map `fd`, which is taken over in any case. -EEXIST: both tables
 * exist. */
int generations_make(struct loaded *loaded);
int generations_add(struct loaded *loaded, int fd);

/* Empties an unused table for a generation. */
int generation_fill(const struct loaded *loaded, struct generation_table *table, u64 generation);

/* Give a table a role, or remove that of the previous table. Both return when no program uses the
 * table that had the role before: an update of a map of maps waits for running programs (RCU). */
int generation_set(const struct loaded *loaded, enum table_role role,
		   const struct generation_table *table);
int generation_clear_previous(const struct loaded *loaded);

/* Waits until all programs that run now have ended. */
void generation_wait(struct loaded *loaded);

/* The table that programs write, by the kernel; NULL: not a table of this instance. */
struct generation_table *generation_current(struct loaded *loaded);

u64 generation_of(const struct generation_table *table);

/* The generation that readers see. */
u64 generation_published(const struct loaded *loaded);
void generation_publish(struct loaded *loaded, u64 generation);

/* The table of the published generation. */
struct generation_table *generation_seen(struct loaded *loaded);

/* The table with the stack of an id; NULL: the id is stale. */
struct generation_table *generation_of_id(const struct loaded *loaded, u32 id);

/*
 * The id of a stack that user space has unwound, in the published generation; 0: not in the map.
 * `inserts`: adds the stack, as programs do, unless the map refuses it; the counters for this are
 * behind those of the CPUs. One thread.
 */
u32 generation_stack_id(struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
			bool inserts);

/* An array map whose values user space sees. */
struct shared_array {
	void *memory;
	void *live; /* the shared memory, while `memory` is a private copy; else NULL */
	u64 bytes;
	u64 stride; /* bytes from value to value */
};

struct loaded {
	const struct source_list *sources;
	struct plan plan;
	struct engine *engine; /* NULL if opened */
	struct attachment attachment;
	struct ahead ahead;
	int unwind_blocked_program; /* bpf/deferral/unwind_blocked.h; -1 = not loaded */
	int running_code_program;   /* bpf/mapping/running_code.h; -1 = not loaded */
	int *programs;		    /* programs of events, if opened */
	u32 program_count, program_room;
	pid_t beside; /* another process of ours whose events are left out; 0 = none */
	bool opened;  /* another process has loaded the programs */
	bool running; /* events may come at any time */
	bool foreign; /* task ids are of another PID namespace */
	struct generation_table tables[TABLE_ROLES];
	struct shared_array rings;
	struct shared_array task_rings;
	struct shared_array scratch_slots;
	struct shared_array counted;
	struct shared_array triggers;
	struct shared_array mappings;
	struct shared_array rules;
	struct shared_array engine_state;
	struct shared_array cgroup_paths;
	struct shared_array kernel_text;
};

void loaded_init(struct loaded *loaded);

/* Plans sizes and filters. The sources of the options must outlive *loaded. */
int loaded_plan(struct loaded *loaded, const struct capture_options *options,
		struct stackmap_error *error);

/* Makes the planned maps, maps their memory, and loads the program that numbers running code.
 * -EINTR (lib/interrupt.h). On failure, here and below, the caller still calls loaded_free();
 * attachment.refused: the kernel refused the programs. */
int loaded_prepare(struct loaded *loaded, struct stackmap_error *error);

/* Loads all programs, without attaching. The kernel takes time, in which `meanwhile` is called
 * again and again. -EINTR. */
int loaded_load(struct loaded *loaded, const struct meanwhile *meanwhile,
		struct stackmap_error *error);

/* Maps the memory that is shared with the programs. Called on loading and on opening. */
int loaded_share(struct loaded *loaded);

/* Frees all. Call after attachment_free(): no program runs any more, or the instance goes on
 * without this process. */
void loaded_free(struct loaded *loaded);

/* Takes the copy of the kernel's list of symbols that was read during loaded_load(), and ends the
 * thread that read the list. The caller closes the copy. */
struct kernel_copy loaded_take_kernel_copy(struct loaded *loaded);

/* The BPF object of the common set. */
struct capture_bpf *loaded_programs(const struct loaded *loaded);

struct ring_view loaded_ring(const struct loaded *loaded, u32 cpu);
struct ring_view loaded_task_ring(const struct loaded *loaded, u32 cpu);
const struct scratch *loaded_scratch(const struct loaded *loaded, u32 cpu);

/* The events of a CPU that are counted only; NULL: none are. */
struct counted_table *loaded_counted(const struct loaded *loaded, u32 cpu);

/* The triggers of the instance (abi/trigger_state.h). */
struct trigger_state *loaded_triggers(const struct loaded *loaded);

/* Writes an event with a value into the ring of CPU 0, and counts the event as a program does.
 * `event` has thread, stamp and stacks. The programs must have been stopped. */
void loaded_put_event(const struct loaded *loaded, const struct event_slot *event, u64 value);

/* User stacks that unwind tables were used for, at the event. */
struct walk_counts {
	u64 walked;		  /* stacks unwound at the event */
	u64 table_frames;	  /* frames by a rule of a whole-file table */
	u64 mapping_walks;	  /* addresses whose mapping was looked up in the kernel */
	u64 script_loops;	  /* loops of interpreters that the script's frames replaced */
	u64 deferred[STOP_COUNT]; /* stacks left for later, by the reason (STOP_IS_DEFERRAL) */
};

struct walk_counts loaded_walks(const struct loaded *loaded);
struct mapping_record *loaded_mapping(const struct loaded *loaded, u32 number);

/* Forgets rules and steps that the programs have learned. A file's table may have come with marked
 * code (abi/script.h) since, and these rules have no marks and stand before the table. */
void loaded_forget_rules(struct loaded *loaded);

/* Makes walks at events stop at generated code, so that the callback unwinds the stack with the
 * rules for OpenJDK (core/unwind/java_rule.c). Does nothing if the kernel has no callbacks. */
void loaded_leave_generated(struct loaded *loaded);

bool loaded_is_flight(const struct loaded *loaded);

/* True if an instance without a process takes user stacks by frame pointers only, because this
 * kernel cannot defer them. */
bool loaded_lacks_deferral(const struct loaded *loaded);

/* True if this process loaded it and could not share the engine, so that user stacks are unwound
 * for this instance alone. */
bool loaded_lacks_engine(const struct loaded *loaded);

/* Leaves out the events of this process, until it exits. */
void loaded_leave_out_self(struct loaded *loaded);

/* Leaves out the events of another process of ours, from the next drained round on. */
void loaded_leave_out(struct loaded *loaded, pid_t pid);

/* Sets the rate of sources that are sampled at a rate, in Hz; the process must have attached them.
 */
int loaded_set_frequency(struct loaded *loaded, u64 frequency);

/* Opens perf events on CPUs that came online. To be called all the time during a recording, by the
 * process that attached; CPUs are looked for at most ten times a second. */
void loaded_follow_cpus(struct loaded *loaded);

/* True if perf events are opened for each CPU. */
bool loaded_is_by_cpu(const struct loaded *loaded);

/* Follows a process, its threads and descendants, and all tasks that these fork later. -ESRCH. */
int loaded_follow(struct loaded *loaded, pid_t pid, struct stackmap_error *error);
/* Follows a child of this process from its execve on, with all tasks that it forks. */
int loaded_follow_command(struct loaded *loaded, pid_t pid, struct stackmap_error *error);

/* The process of a command that has not begun yet, if all events will be of tasks that it starts.
 * 0: events of other tasks are possible. */
pid_t loaded_only_task(const struct loaded *loaded);

/* Pauses for a reason, until loaded_resume(): events count as lost ("paused"). When the call
 * returns, no event is recorded any more. */
void loaded_pause(struct loaded *loaded, enum pause why);
void loaded_resume(struct loaded *loaded, enum pause why);
bool loaded_is_paused(const struct loaded *loaded);

/* Makes rings and counters a private copy of one moment, until loaded_thaw(). Events until
 * loaded_go_on() count as lost ("paused"); the pause ends even if this process is killed. -ENOMEM:
 * no copy. The caller calls loaded_go_on() and loaded_thaw() in any case. */
int loaded_freeze(struct loaded *loaded);
void loaded_go_on(struct loaded *loaded);
void loaded_thaw(struct loaded *loaded);
bool loaded_is_frozen(const struct loaded *loaded);

#endif
