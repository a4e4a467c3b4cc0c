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
	u32 full_stacks; /* of these, without an id */
	u32 tasks;
	u32 symbols;
	u32 events;
	u32 flush_every; /* events; 0 = never */
	u32 placeholders;
	bool is_summary; /* events stand for many: the others are as without it */
	u32 times;	 /* accounts of threads' time */
};

#define NO_PLACEHOLDER UINT32_MAX

struct recording_placeholder {
	u32 before_stack; /* its place among the stacks */
	u32 after_event;  /* when it is resolved; not below the number of events: never */
	struct trace_resolution resolution;
	u32 name; /* for the writer, set while it is written */
};

/* All that went into a recording, to be compared with what is read. Times of events are in the
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
	u32 *placeholder_of; /* by event, whose user stack and leaf are as the resolution says */
	u32 *file_index;     /* by stack, set while it is written */
	struct thread_account *accounts;
	struct trace_ledger ledger;
	struct trace_cpu_ledger *cpu_ledgers;
};

struct recording *recording_create(const struct recording_shape *shape);
void recording_free(struct recording **recording);

/* As it is written: what its placeholder's resolution makes of it is in events[]. */
u64 recording_leaf_in_file(const struct recording *recording, u32 event);

/* Writes it all: 0, or the first error of the writer. *recorded and *lost may be NULL. */
int recording_write(const struct recording *recording, const char *path, u64 *recorded, u64 *lost);

/* Whole files; the caller frees what is read. */
u8 *file_read(const char *path, size_t *bytes);
void file_write(const char *path, const u8 *data, size_t bytes);

#endif
