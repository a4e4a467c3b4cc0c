/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recordings made of seeded random data, small or large, for the tests and the bench of the trace
 * file. */
#ifndef TESTS_UNIT_TRACE_RECORDING_H
#define TESTS_UNIT_TRACE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/write/writer.h"

struct random {
	u64 state;
};

u64 random_next(struct random *random);
u64 random_below(struct random *random, u64 limit);

struct recording_shape {
	u64 seed;
	u32 cpus;
	u32 sources;
	u32 stacks;
	u32 full_stacks; /* number of the stacks that have no id */
	u32 tasks;
	u32 symbols;
	u32 events;
	/* number of events after which a block is written; 0: never before the end */
	u32 flush_every;
	u32 placeholders;
	bool is_summary;     /* true: events have repeats, all else is unchanged */
	u32 times;	     /* number of accounts of threads' time */
	u32 contexts;	     /* number of traces and spans; two of three events have one */
	bool has_attributes; /* true: two of three contexts have attributes */
	bool has_further;    /* true: two of three events have a further value */
	bool has_losses;     /* the sources, at most LOST_COUNT, have ledgers */
	bool has_aggregates; /* the recording says so; no event is counted only */
};

#define NO_PLACEHOLDER UINT32_MAX

struct recording_placeholder {
	u32 before_stack; /* index of the stack before which the placeholder is written */
	u32 after_event; /* event after which the placeholder is resolved; never if there is no such
			    event */
	struct trace_resolution resolution;
	u32 name; /* number of the stack in the writer, set when the stack is written */
};

/* The content of a recording, to be compared with the reader's results. Times of events are in the
 * order of the file's merge. */
struct recording {
	struct recording_shape shape;
	struct trace_info info;
	struct trace_source *sources;
	struct trace_module *modules;
	u32 module_count;
	struct trace_mapping *mappings;
	u32 mapping_count;
	struct trace_cgroup *cgroups;
	u32 cgroup_count;
	struct trace_stack *stacks;
	struct trace_task *tasks;
	struct trace_symbol *symbols; /* sorted by mapping and start */
	struct trace_event *events;   /* sorted by time, then CPU; times of one CPU are distinct */
	struct recording_placeholder *placeholders;
	u32 *placeholder_of; /* placeholder of each event; events[] have the user stack and leaf of
				its resolution */
	u32 *file_index;     /* index of each stack in the file, set when the stack is written */
	struct thread_account *accounts;
	struct trace_context *contexts;
	struct trace_ledger ledger;
	struct trace_cpu_ledger *cpu_ledgers;
};

struct recording *recording_create(const struct recording_shape *shape);
void recording_free(struct recording **recording);

/* The leaf that is written for an event, before the resolution; events[] have the leaf after it. */
u64 recording_leaf_in_file(const struct recording *recording, u32 event);

/* Writes the recording. Returns 0, or the first error of the writer. *recorded and *lost may be
 * NULL. */
int recording_write(const struct recording *recording, const char *path, u64 *recorded, u64 *lost);

/* Reads and writes whole files; the caller frees the bytes. */
u8 *file_read(const char *path, size_t *bytes);
void file_write(const char *path, const u8 *data, size_t bytes);

#endif
