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

#define CPUS_JOINED 0xffffU /* the CPU of a cell whose events may be of any */

struct time_cell {
	struct intern_key key; /* paths, thread, source and CPU */
	u32 user, kernel;      /* path ids of the recording, which outlive the paths themselves */
	const struct tree_node *stack; /* node of the two paths in the tree; NULL: not placed yet */
	u32 thread;
	u16 source;
	u16 cpu;
	u32 bucket; /* start of the bucket = origin + bucket << shift, ns */
	u64 count;
	u64 value;
};

struct time_cells {
	struct intern cells; /* struct time_cell, in the order of buckets */
	u64 origin;	     /* time of the first event */
	u32 shift;	     /* a bucket is 2^shift ns */
	u32 bucket;	     /* newest bucket; keys find cells of this bucket only */
	u32 level;	     /* flamegraph/flamegraph.c */
	bool joins_cpus;     /* cells do not tell CPUs apart */
	u32 *joined;	  /* by thread: the thread in which its events are counted; may be NULL */
	u32 joined_count; /* further threads are themselves */
};

void time_cells_begin(struct time_cells *cells);
void time_cells_clear(struct time_cells *cells);

/* Counts an event: paths, thread, source, cpu, count and value of `what`. Times ascend. -ENOMEM. */
int time_cells_add(struct time_cells *cells, u64 time, const struct time_cell *what);

/* Prefetches for a later time_cells_add(): see intern_expect(). */
void time_cells_expect(const struct time_cells *cells, const struct time_cell *what, u32 step);

/* Makes the buckets at least 2^shift ns wide. -ENOMEM. */
int time_cells_widen(struct time_cells *cells, u32 shift);

/* Joins cells that are not told apart any more, in buckets of 2^shift ns. -ENOMEM. */
int time_cells_rebuild(struct time_cells *cells, u32 shift);

static inline struct time_cell *time_cells_at(const struct time_cells *cells, u32 index)
{
	return cells->cells.entries[index];
}

/*
 * The values of single events by stack and source, for the histograms of the page. The values are
 * exact up to VALUES_MAX different ones; beyond that all are rounded (distribution_round()), so
 * that the page stays small. The sums stay exact.
 */

#define VALUES_MAX (1U << 15)	   /* different values of each stack, over all stacks of the page */
#define VALUES_KEPT_MAX (1U << 20) /* the same while events are counted */

struct values_of_stack {
	struct intern_key key; /* name of the task, paths, source */
	struct time_cell cell; /* paths, source, thread: one of those with this name */
	struct distribution values;
};

struct stack_values {
	struct intern stacks; /* struct values_of_stack */
	u64 since_bound;      /* values that were added since the last bound() */
	u32 digits; /* significant binary digits of the values; 0: too many stacks, no values */
};

void stack_values_begin(struct stack_values *values);
void stack_values_clear(struct stack_values *values);

/* Adds an event by the paths, source and value of its cell. `task`: a pointer that is the same for
 * all threads of one name. -ENOMEM. */
int stack_values_add(struct stack_values *values, const void *task, const struct time_cell *cell);

/* Sorts the values, and bounds their number to VALUES_MAX; called once. Removes all values if there
 * are more than VALUES_MAX stacks. */
void stack_values_finish(struct stack_values *values);

static inline struct values_of_stack *stack_values_at(const struct stack_values *values, u32 index)
{
	return values->stacks.entries[index];
}

#endif
