/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of a capture that is in the kernel, and the memory that this process shares with it: BPF
 * programs, rings, counters, the two tables of the stack map. The parts were loaded by this
 * process, or opened from the pins of another process (capture/instance/persist.h). The state of
 * recording files is not here, but in struct recording. One thread uses a struct loaded.
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

/* Slow work that needs no BPF programs; a thread does the work while the programs are loaded. */
struct preload {
	int list_symbols; /* set by the caller: descriptor of the BPF program list_kernel_symbols */
	bool reads_text;  /* set by the caller: read the addresses of kernel functions */
	bool opens_event; /* set by the caller: prepare the kernel for perf events of tasks */
	bool has_thread;
	bool is_done;
	pthread_t thread;
	struct kernel_text *text;
	struct kernel_copy copy; /* copies of kallsyms and modules from which `text` was read; -1,
				    -1 = the caller has taken them */
	int result;
};

struct loaded;

#define GENERATION_FIRST 1

struct generation_table {
	int fd; /* descriptor of the BPF map; -1 = not made */
	u32 id; /* the kernel's id of the BPF map */
	void *memory;
};

/* The stack map has up to two tables, each a BPF map. generations_make_table() makes one more
 * table; generations_add_table() adds the BPF map `fd`, which is taken over in any case. -EEXIST:
 * both tables exist. */
int generations_make_table(struct loaded *loaded);
int generations_add_table(struct loaded *loaded, int fd);

/* Empties a table that is not in use, and gives it the generation number `generation`. */
int generation_reset_table(const struct loaded *loaded, struct generation_table *table,
			   u64 generation);

/* Give a table a role, or take its role from the previous table. Both return when no program uses
 * the table that had the role before: an update of a map of maps waits for running programs (RCU).
 */
int generation_set_role(const struct loaded *loaded, enum table_role role,
			const struct generation_table *table);
int generation_clear_previous(const struct loaded *loaded);

/* Waits until all BPF programs that run now have ended. */
void generation_wait_for_programs(struct loaded *loaded);

/* Returns the table of the stack map that programs write now, as the BPF map of maps says; NULL:
 * the map of maps has no table that this process has opened. */
struct generation_table *generation_current_table(struct loaded *loaded);

u64 generation_of_table(const struct generation_table *table);

/* The published generation is the one that readers see. */
u64 generation_published(const struct loaded *loaded);
void generation_publish(struct loaded *loaded, u64 generation);

/* Returns the table of the published generation. */
struct generation_table *generation_published_table(struct loaded *loaded);

/* Returns the table that has the stack with an id; NULL: the id is of an older generation. */
struct generation_table *generation_table_of_id(const struct loaded *loaded, u32 id);

/*
 * Returns the id, in the published generation, of a stack that user space has unwound; 0: the stack
 * is not in the stack map. `inserts`: adds the stack, as programs do, unless the stack map refuses
 * it; the counters of such stacks follow the counters of the CPUs. Only one thread may call.
 */
u32 generation_find_or_add_stack(struct loaded *loaded, const u64 *frames, u32 depth, u32 flags,
				 bool inserts);

/* A BPF array map whose values are mapped into this process. */
struct shared_array {
	void *memory;
	void *live; /* the shared memory, while `memory` is a private copy of it; else NULL */
	u64 bytes;
	u64 stride; /* number of bytes from one value to the next */
};

struct loaded {
	const struct source_list *sources;
	struct plan plan;
	/* The maps that all instances share (capture/bpffs/engine_folder.h); NULL: another process
	 * loaded the programs. */
	struct engine *engine;
	struct attachment attachment;
	struct preload preload;
	int unwind_blocked_program; /* descriptor of the program of bpf/deferral/unwind_blocked.h;
				       -1 = not loaded */
	int running_code_program;   /* descriptor of the program of bpf/mapping/running_code.h; -1 =
				       not loaded */
	int *programs; /* descriptors of event programs, if another process loaded them */
	u32 program_count, program_room;
	pid_t beside; /* id of the helper process whose events are left out; 0 = none */
	bool opened;  /* true: another process has loaded the programs */
	bool running; /* true: events may come at any time */
	bool foreign; /* true: programs use task ids of another PID namespace than ours */
	struct generation_table tables[TABLE_ROLES];
	struct shared_array rings;
	struct shared_array task_rings;
	struct shared_array scratch_slots;
	struct shared_array counted;
	struct shared_array source_losses;
	struct shared_array attribute_slots;
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

/* Makes the planned BPF maps, maps their memory, and loads the program that numbers the files of
 * running code. -EINTR (lib/interrupt.h). If this function or loaded_load() fails, the caller still
 * calls loaded_free(); attachment.refused is true if the kernel refused the programs. */
int loaded_prepare(struct loaded *loaded, struct stackmap_error *error);

/* Loads all programs, without attaching them. While the kernel verifies them, `meanwhile` is called
 * again and again. -EINTR. */
int loaded_load(struct loaded *loaded, const struct meanwhile *meanwhile,
		struct stackmap_error *error);

/* Maps the memory that is shared with the programs, after the BPF maps were made or opened. */
int loaded_map_memory(struct loaded *loaded);

/* Frees everything. Call after attachment_free(), when no program runs any more, or when the
 * instance goes on without this process. */
void loaded_free(struct loaded *loaded);

/* Takes the copy of the kernel's list of symbols that was read during loaded_load(), and ends the
 * thread that read the list. The caller closes the copy. */
struct kernel_copy loaded_take_kernel_copy(struct loaded *loaded);

/* Returns the BPF object of the common set of programs. */
struct capture_bpf *loaded_programs(const struct loaded *loaded);

struct ring_view loaded_ring(const struct loaded *loaded, u32 cpu);
struct ring_view loaded_task_ring(const struct loaded *loaded, u32 cpu);
const struct scratch *loaded_scratch(const struct loaded *loaded, u32 cpu);

/* Returns the table of a CPU's events that were only counted (abi/counted.h); NULL: no events are
 * counted. */
struct counted_table *loaded_counted_table(const struct loaded *loaded, u32 cpu);
/* Frees rows of a CPU's table of counted events: rows that name stacks of another generation than
 * the published one, and whose counts were all taken. */
void loaded_free_old_counted_rows(const struct loaded *loaded, u32 cpu);

/* Returns how full the memory of a capture that aggregates is, in percent: the stack map, or the
 * rows of the CPU with the most rows in use. */
u32 loaded_aggregates_fill_percent(struct loaded *loaded);

/* Returns the counts of lost events of a source on a CPU (SOURCE_LOSSES_AT()). Must not be called
 * if there is one source only. */
u64 *loaded_source_losses(const struct loaded *loaded, u32 cpu, u32 kind);

/* Returns the triggers of the instance (abi/trigger_state.h). */
struct trigger_state *loaded_triggers(const struct loaded *loaded);

/* Writes an event into the ring of CPU 0, and counts the event as a program does. `event` has
 * thread, stamp and stacks; `value` is the event's value. The programs must have been stopped. */
void loaded_write_event(const struct loaded *loaded, const struct event_slot *event, u64 value);

/* Counts of user stacks that were unwound by tables when the event happened. */
struct walk_counts {
	u64 walked;	   /* stacks that were unwound when the event happened */
	u64 table_frames;  /* frames that were unwound by a rule of a file's unwind table */
	u64 mapping_walks; /* addresses whose mapping was looked up in the kernel's mapping list */
	u64 script_loops;  /* frames of interpreter loops that script functions replaced */
	u64 deferred[STOP_COUNT]; /* stacks that were deferred, by reason (STOP_IS_DEFERRAL) */
};

struct walk_counts loaded_walk_counts(const struct loaded *loaded);
struct mapping_record *loaded_mapping_record(const struct loaded *loaded, u32 number);

/* Forgets the unwind rules and steps that the programs have cached. Called when a file's table with
 * rules for an interpreter loop (abi/script.h) was published: a cached rule does not know the loop,
 * and the programs look into the cache before the table. */
void loaded_forget_rules(struct loaded *loaded);

/* Makes unwinding at events stop at generated code, so that the task-work callback unwinds the
 * stack with the rules for OpenJDK (core/unwind/java_rule.c). Does nothing if the kernel has no
 * task-work callbacks. */
void loaded_stop_walks_at_generated_code(struct loaded *loaded);

bool loaded_is_flight(const struct loaded *loaded);

/* True if an instance without a process takes user stacks by frame pointers only, because this
 * kernel cannot defer them. */
bool loaded_lacks_deferral(const struct loaded *loaded);

/* True if this process loaded the programs and could not share the engine
 * (capture/bpffs/engine_folder.h), so that unwind tables and mappings are those of this instance
 * alone. */
bool loaded_lacks_engine(const struct loaded *loaded);

/* Leaves out the events of this process, until it exits. */
void loaded_leave_out_self(struct loaded *loaded);

/* Leaves out the events of a helper process, from the next round of the drain on. */
void loaded_leave_out_process(struct loaded *loaded, pid_t pid);

/* Sets the frequency of sources that have one, in Hz; this process must have attached the sources.
 */
int loaded_set_frequency(struct loaded *loaded, u64 frequency);

/* Opens perf events on CPUs that came online. The process that attached the sources calls this in
 * each round of its loop; the list of CPUs is read at most ten times a second. */
void loaded_follow_cpus(struct loaded *loaded);

/* True if perf events are opened for each CPU. */
bool loaded_has_events_by_cpu(const struct loaded *loaded);

/* Records the events of a process, its threads and descendants, and all tasks that these fork
 * later. -ESRCH. */
int loaded_follow_process(struct loaded *loaded, pid_t pid, struct stackmap_error *error);
/* Records the events of a child of this process from its execve on, and of all tasks that the child
 * forks. */
int loaded_follow_command(struct loaded *loaded, pid_t pid, struct stackmap_error *error);

/* The process of a command that has not begun yet, if all events will be of this process and its
 * descendants. 0: events of other tasks are possible. */
pid_t loaded_pid_if_only_command_is_recorded(const struct loaded *loaded);

/* Pauses for the reason `why`, until loaded_resume(): events count as lost ("paused"). When
 * loaded_pause() returns, no event is recorded any more. */
void loaded_pause(struct loaded *loaded, enum pause why);
void loaded_resume(struct loaded *loaded, enum pause why);
bool loaded_is_paused(const struct loaded *loaded);

/* Replaces rings and counters in this process by a private copy of one moment, until loaded_thaw().
 * Events until loaded_resume_events() count as lost ("paused"); the pause ends even if this process
 * is killed. -ENOMEM: no copy. The caller calls loaded_resume_events() and loaded_thaw() in any
 * case. */
int loaded_freeze(struct loaded *loaded);
void loaded_resume_events(struct loaded *loaded);
void loaded_thaw(struct loaded *loaded);
bool loaded_is_frozen(const struct loaded *loaded);

#endif
