/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the sets of BPF programs that an instance loads for its sources, and attaches the
 * programs.
 *
 * Each source has a number, the event kind. The common set serves all sources whose BPF link passes
 * the kind to the program as a cookie, or a single source, whose kind is a constant. Up to four
 * tracepoints have a set each, since the kernel lets programs of different sets interrupt each
 * other; of more tracepoints, each of the first categories has a set. A source whose link has no
 * cookie has a set of its own: perf events (the kernel does not pass the cookie to events of forked
 * tasks), fentry (the target belongs to the program), raw tracepoints before 6.10. A tracepoint
 * with a value has two programs: the program of its event is in the common set, and a small program
 * that counts runs is in a set of its own.
 */
#ifndef LIB_CAPTURE_ATTACH_H
#define LIB_CAPTURE_ATTACH_H

#include "capture/feature/feature.h"
#include "capture/load/cpu_hotplug.h"
#include "capture/load/link.h"
#include "capture/load/program_set.h"
#include "capture/source/source.h"

/* One open perf event. */
struct perf_event {
	u32 link; /* index of the event in attachment->links */
	u32 kind;
	int cpu;	  /* CPU of the event; -1 = the event is of a command, on any CPU */
	u64 count_before; /* count of the events that this event has replaced, after the CPU had
			     been offline */
	u64 count;	  /* final count, set when the event is stopped */
};

/* The program of a source, and the set that the program is in. */
struct placement {
	u32 set;
	u32 program;  /* the program, as one bit of enum program */
	u32 call_set; /* set of the program PROGRAM_FIELD_CALL, if `program` is PROGRAM_FIELD_VALUE
		       */
};

struct attachment {
	const struct source_list *sources;
	const struct plan *plan;
	pid_t command; /* process to which perf events are bound, with its children; 0 = perf events
			  are bound to CPUs */
	struct program_set *sets; /* sets[0] has the maps and the common programs */
	u32 set_count;
	struct program_images images; /* images of the programs that attachment_load() loads */
	struct placement *placements; /* program and set of each source, indexed by event kind */
	bool refused; /* true: the kernel refused a program, and not for lack of privileges or
			 memory */
	bool tracepoint_cookies;
	bool user_multi;
	struct kernel_attach_methods kernel;
	struct link_list task_links;
	struct link_list links;
	int stop_fds[2]; /* descriptors of the iterators in `links` that record blocked tasks when
			    they are read; 0 = none */
	u64 begun;	 /* CLOCK_MONOTONIC, ns: begin of the recording; 0 = now */
	u64 unfinished_spans;
	u64 missed_waits; /* number of waits that had not ended at the stop and have no event */
	u64 frequency; /* frequency in Hz that replaces the sources' frequencies; 0 = not replaced
			*/
	struct perf_event *events;
	u32 event_count, event_room;
	struct cpu_hotplug hotplug;
};

/* Opens the perf events of a source: one event for the command, which its execve enables, or an
 * enabled event on each recorded CPU. 0 or -errno. */
int attach_perf_events(struct attachment *attachment, const struct source *source, u32 kind,
		       int program_fd);

/* Sets the frequency of sources that have one, in Hz, also for CPUs that come online later. 0 or
 * -errno. */
int attach_perf_set_frequency(struct attachment *attachment, u64 frequency);

/* The number of events of a source whose program was skipped; 0 if it is no perf event. Call after
 * all programs have ended; for an instance that another process started, the number is that up to
 * the last run on each CPU. */
u64 attach_count_skipped_perf_events(const struct attachment *attachment, u32 kind);

/* Attaches both programs of a tracepoint with a value. 0 or -errno. */
int attach_tracepoint_with_value(struct attachment *attachment, const struct source *source,
				 u32 kind);

/*
 * The number of skipped events in all: `misses` is the kernel's count of skipped program runs, to
 * which the function adds skips of PROGRAM_FIELD_VALUE, which only PROGRAM_FIELD_CALL counts; for
 * an instance that another process started, up to the last run on each CPU. A skipped run of
 * PROGRAM_FIELD_CALL is no loss if PROGRAM_FIELD_VALUE ran (field_runs.ahead), and is subtracted.
 */
u64 attach_count_all_skipped_events(const struct attachment *attachment, u64 misses);

/* Load the programs of all sets, in two steps (program_set.h). On failure the caller still calls
 * attachment_free(). */
int attachment_prepare(struct attachment *attachment, int table_fd, struct engine *engine,
		       struct stackmap_error *error);
int attachment_load(struct attachment *attachment, int table_fd, const struct meanwhile *meanwhile,
		    struct stackmap_error *error);

/*
 * Writes each source's question (its conditions and values, abi/question.h) and the patterns of
 * task names into BPF maps. Called when the maps exist and each source has its program
 * (questions.c).
 */
int attachment_store_questions(const struct attachment *attachment, struct stackmap_error *error);

/*
 * Perf counters whose counts events have as values (counters.c). The counters are opened on all
 * CPUs before the sources are attached, also on CPUs without events (-C), since threads move; the
 * program at task switches is attached after the sources. attachment_open_cpu_counters() opens the
 * counters of a CPU that has come online. 0; -ENODEV: the CPU is offline; -errno.
 */
int attachment_open_counters(struct attachment *attachment, struct stackmap_error *error);
int attachment_open_cpu_counters(struct attachment *attachment, u32 cpu);
int attachment_begin_counting(struct attachment *attachment, struct stackmap_error *error);

/* Attaches the hooks that follow tasks. Call after the rings are set up. */
int attachment_attach_hooks(struct attachment *attachment, struct stackmap_error *error);

/* Attaches all sources. On failure no source stays attached. */
int attachment_attach_all_sources(struct attachment *attachment, struct stackmap_error *error);

/* True if perf events are bound to CPUs. */
bool attachment_has_events_by_cpu(const struct attachment *attachment);

/* Opens the perf events of a CPU that has come online. 0; -ENODEV: the CPU is offline; -errno. */
int attachment_open_cpu_events(struct attachment *attachment, u32 cpu);

void attachment_detach_sources(struct attachment *attachment);
void attachment_free(struct attachment *attachment);

#endif
