/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events counted by stack, source, thread and CPU in buckets of equal time. The counts of all cells
 * add up to the number of events, for every selection. A recording of any length has at most
 * CELL_BUCKETS_MAX buckets. Above CELLS_MANY cells the number of buckets falls to CELL_BUCKETS_MIN.
 * flamegraph/flamegraph.c bounds the number of cells.
 */
#ifndef LIB_FLAMEGRAPH_TIME_CELLS_H
#define LIB_FLAMEGRAPH_TIME_CELLS_H

#include <stdbool.h>

#include "flamegraph/stack_tree.h"
#include "intern.h"
#include "report/event/distribution.h"

#define CELL_BUCKETS_MAX 512U
#define CELL_BUCKETS_MIN 32U
#define CELLS_MANY (1U << 18)

#define CPUS_JOINED 0xffffU /* CPU number of a cell whose events may be of any CPU */

struct time_cell {
	struct intern_key key; /* the key of a cell: paths, thread, source and CPU */
	u32 user, kernel;      /* ids of the stack's paths (struct profile_path) */
	/* node of the tree that stands for both paths; NULL: not searched yet */
	const struct tree_node *stack;
	u32 thread;
	u16 source;
	u16 cpu;
	u32 bucket; /* number of the bucket, which starts at origin + (bucket << shift) ns */
	u64 count;
	u64 value;
};

struct time_cells {
	struct intern cells; /* the cells, each a struct time_cell, in the order of their buckets */
	u64 origin;	     /* time of the first event, ns */
	u32 shift;	     /* log2 of the width of a bucket in ns */
	u32 bucket;	     /* the newest bucket; only its cells can be found by key */
	u32 level;	 /* number of steps by which merge_time_cells_to_limit() has joined cells */
	bool joins_cpus; /* the cells of all CPUs are joined */
	/* by index of a thread: the thread in which its events are counted; may be NULL */
	u32 *joined;
	/* number of elements of `joined`; events of later threads are counted in their own
	 * thread */
	u32 joined_count;
};

void time_cells_init(struct time_cells *cells);
void time_cells_clear(struct time_cells *cells);

/* Counts an event, given by the paths, thread, source, cpu, count and value of `what`. Calls must
 * be in the order of time. -ENOMEM. */
int time_cells_add(struct time_cells *cells, u64 time, const struct time_cell *what);

/* Prefetches the memory that time_cells_add() reads for this cell, in the steps of
 * intern_prefetch_entry(). */
void time_cells_prefetch_cell(const struct time_cells *cells, const struct time_cell *what,
			      u32 step);

/* Joins buckets until they are at least 2^shift ns wide. -ENOMEM. */
int time_cells_widen_time_steps(struct time_cells *cells, u32 shift);

/* Merges cells that are equal once CPUs (`joins_cpus`) or threads (`joined`) are merged, or once
 * buckets are 2^shift ns wide. -ENOMEM. */
int time_cells_merge_by_time_step(struct time_cells *cells, u32 shift);

static inline struct time_cell *time_cells_at(const struct time_cells *cells, u32 index)
{
	return cells->cells.entries[index];
}

/*
 * The values of single events by stack and source, for the histograms of the page. Up to VALUES_MAX
 * different values are exact. If there are more, all values are rounded (distribution_round()), so
 * that the page stays small. The sums stay exact.
 */

/* most values on the page: the numbers of distinct values of the events of each stack, added up;
 * above it the values are rounded */
#define VALUES_MAX (1U << 15)
#define VALUES_KEPT_MAX (1U << 20) /* the most values while events are counted */

struct values_of_stack {
	struct intern_key key; /* the key: name of the task, paths, source */
	struct time_cell cell; /* paths and source of the stack, and any thread with this name */
	struct distribution values;
};

struct stack_values {
	struct intern stacks; /* values by stack and source: struct values_of_stack */
	u64 since_bound;      /* number of values added since the values were last rounded */
	u32 digits; /* significant binary digits of the values; 0: there are too many stacks, so no
		       values are kept */
};

void stack_values_init(struct stack_values *values);
void stack_values_clear(struct stack_values *values);

/* Adds the events of a cell by their paths, source and sum of values. `task`: a pointer that is the
 * same for all threads of one name. -ENOMEM. */
int stack_values_add(struct stack_values *values, const void *task, const struct time_cell *cell);

/* Sorts the values, and bounds their number to VALUES_MAX; called once. Removes all values if there
 * are more than VALUES_MAX stacks. */
void stack_values_finish(struct stack_values *values);

static inline struct values_of_stack *stack_values_at(const struct stack_values *values, u32 index)
{
	return values->stacks.entries[index];
}

#endif
