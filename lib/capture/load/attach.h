/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sources to programs: which sets of programs an instance loads, and what they are attached to.
 *
 * One set serves all sources whose links carry a cookie (the event kind); tracepoints have one for
 * each category, up to a few, since programs of different sets may interrupt each other. A source
 * has a set of its own where its link cannot: perf events (the kernel does not hand the cookie on
 * to the events of forked tasks), fentry (the target belongs to the program), raw tracepoints
 * before 6.10. A tracepoint with a value has both: the program of its event is in the common set, a
 * small one that counts behind it in its own.
 */
#ifndef LIB_CAPTURE_ATTACH_H
#define LIB_CAPTURE_ATTACH_H

#include "capture/feature/ways.h"
#include "capture/load/cpu_hotplug.h"
#include "capture/load/link.h"
#include "capture/load/program_set.h"
#include "capture/source/source.h"

/* One open perf event. */
struct perf_event {
	u32 link; /* its place in `links` */
	u32 kind;
	int cpu;	  /* -1: of a command, whichever CPU it runs on */
	u64 count_before; /* on a CPU that was offline since: of the event before this one */
	u64 count;	  /* once it was stopped */
};

/* Where the program of a source is. */
struct placement {
	u32 set;
	u32 program;  /* enum program: one bit */
	u32 call_set; /* of PROGRAM_FIELD_CALL, beside PROGRAM_FIELD_VALUE */
};

struct attachment {
	const struct source_list *sources;
	const struct plan *plan;
	pid_t command; /* perf events are bound to it and its children; 0: to every CPU */
	struct program_set *sets; /* sets[0] has the maps and the common programs */
	u32 set_count;
	struct program_images images; /* what is still to be loaded */
	struct placement *placements; /* by kind */
	bool refused; /* the kernel refused a program; not for lack of a right or of memory */
	bool tracepoint_cookies;
	bool user_multi;
	struct kernel_ways kernel;
	struct link_list task_links;
	struct link_list links;
	int stop_fds[2]; /* among these: to read them records the waits that last; 0: none */
	u64 begun;	 /* ns, CLOCK_MONOTONIC: when the recording has begun */
	u64 unfinished_spans;
	u64 missed_waits; /* they lasted when the sources were stopped, without an event */
	u64 frequency;	  /* that took the place of the sources'; 0: theirs */
	struct perf_event *events;
	u32 event_count, event_room;
	struct cpu_hotplug hotplug;
};

/* Loads all sets, in two steps (program_set.h). On failure attachment_free() is still to be called.
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

/* Attaches the hooks that follow tasks; the rings are ready by then. */
int attachment_hooks(struct attachment *attachment, struct stackmap_error *error);

/* Attaches every source. On failure nothing stays attached. */
int attachment_start(struct attachment *attachment, struct stackmap_error *error);

/* Whether there are perf events that are bound to CPUs. */
bool attachment_is_by_cpu(const struct attachment *attachment);

/* Opens the perf events of a CPU that has come online. 0, -ENODEV: it has gone, or -errno. */
int attachment_add_cpu(struct attachment *attachment, u32 cpu);

void attachment_stop(struct attachment *attachment);
void attachment_free(struct attachment *attachment);

#endif
