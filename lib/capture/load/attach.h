/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From sources to programs: the program sets that an instance loads, and the targets of their
 * programs.
 *
 * One set serves all sources whose links have a cookie (the event kind). Up to four tracepoints, or
 * the first categories of more, have a set each, since programs of different sets may interrupt
 * each other. A source
 * whose link has no cookie has a set of its own: perf events (the kernel does not pass the cookie
 * to events of forked tasks), fentry (the target belongs to the program), raw tracepoints
 * before 6.10. A tracepoint with a value has two programs: that of its event in the common set, and
 * a small program that counts in a set of its own.
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
	u32 link; /* index in `links` */
	u32 kind;
	int cpu;	  /* -1 = of a command, on any CPU */
	u64 count_before; /* count of earlier events, if the CPU was offline meanwhile */
	u64 count;	  /* set when the event is stopped */
};

/* The sets of a source's programs. */
struct placement {
	u32 set;
	u32 program;  /* enum program: one bit */
	u32 call_set; /* of PROGRAM_FIELD_CALL, beside PROGRAM_FIELD_VALUE */
};

struct attachment {
	const struct source_list *sources;
	const struct plan *plan;
	pid_t command; /* perf events are bound to this process and its children; 0 = to all CPUs */
	struct program_set *sets; /* sets[0] has the maps and the common programs */
	u32 set_count;
	struct program_images images; /* programs that are left to load */
	struct placement *placements; /* by kind */
	bool refused; /* the kernel refused a program, and not for lack of privileges or memory */
	bool tracepoint_cookies;
	bool user_multi;
	struct kernel_ways kernel;
	struct link_list task_links;
	struct link_list links;
	int stop_fds[2]; /* in `links`: reading them records tasks that are blocked; 0 = none */
	u64 begun;	 /* begin of the recording in ns, CLOCK_MONOTONIC */
	u64 unfinished_spans;
	u64 missed_waits; /* waits without an event that went on when the sources were stopped */
	u64 frequency;	  /* replaces that of the sources; 0 = that of the sources */
	struct perf_event *events;
	u32 event_count, event_room;
	struct cpu_hotplug hotplug;
};

/* Opens and enables the event of a source, on the command or on all CPUs. 0 or -errno. */
int attach_perf(struct attachment *attachment, const struct source *source, u32 kind,
		int program_fd);

/* Sets the rate of events that are sampled at a rate, in Hz, also for CPUs that come online later.
 * 0 or -errno. */
int attach_perf_set_frequency(struct attachment *attachment, u64 frequency);

/* The number of events whose program was skipped. Call after all programs have ended; for an
 * instance that another process started, the number is that up to the last run on each CPU. */
u64 attach_perf_skipped(const struct attachment *attachment);

/* Attaches both programs of a tracepoint with a value. 0 or -errno. */
int attach_field_value(struct attachment *attachment, const struct source *source, u32 kind);

/*
 * The number of skipped events: `misses` that the kernel counted, and misses that only the second
 * program knows; for an instance that another process started, up to the last run on each CPU. A
 * miss of the second program is not a loss if the first has run, which is then `ahead`.
 */
u64 attach_field_value_skipped(const struct attachment *attachment, u64 misses);

/* Load all sets, in two steps (program_set.h). On failure the caller still calls attachment_free().
 */
int attachment_prepare(struct attachment *attachment, int table_fd, struct engine *engine,
		       struct stackmap_error *error);
int attachment_load(struct attachment *attachment, int table_fd, const struct meanwhile *meanwhile,
		    struct stackmap_error *error);

/*
 * Writes the questions and the patterns of names into the maps of the first set, once the maps
 * exist and each source has its program (questions.c).
 */
int attachment_store_questions(const struct attachment *attachment, struct stackmap_error *error);

/*
 * Counters that events read (counters.c): opened on all CPUs before the sources are attached, also
 * where no event is recorded (-C), since threads move; the program at switches is attached after
 * them. attachment_count_cpu() opens those of a CPU that has come online. 0; -ENODEV: the CPU is
 * offline; -errno.
 */
int attachment_open_counters(struct attachment *attachment, struct stackmap_error *error);
int attachment_count_cpu(struct attachment *attachment, u32 cpu);
int attachment_begin_counting(struct attachment *attachment, struct stackmap_error *error);

/* Attaches the hooks that follow tasks. Call after the rings are set up. */
int attachment_hooks(struct attachment *attachment, struct stackmap_error *error);

/* Attaches all sources. On failure no source stays attached. */
int attachment_start(struct attachment *attachment, struct stackmap_error *error);

/* True if perf events are bound to CPUs. */
bool attachment_is_by_cpu(const struct attachment *attachment);

/* Opens the perf events of a CPU that has come online. 0; -ENODEV: the CPU is offline; -errno. */
int attachment_add_cpu(struct attachment *attachment, u32 cpu);

void attachment_stop(struct attachment *attachment);
void attachment_free(struct attachment *attachment);

#endif
