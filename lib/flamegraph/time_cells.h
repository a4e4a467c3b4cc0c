/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events counted by stack, source, thread and CPU in buckets of equal time: the sum of all cells is
 * the number of events, whatever is chosen of them. However long the recording, there are at most
 * CELL_BUCKETS_MAX buckets. Beyond CELLS_MANY cells there are fewer, but at least CELL_BUCKETS_MIN;
 * beyond CELLS_MAX as few as it takes: then the page would be too large to be opened.
 */
#ifndef LIB_FLAMEGRAPH_TIME_CELLS_H
#define LIB_FLAMEGRAPH_TIME_CELLS_H

#include "flamegraph/stack_tree.h"
#include "intern.h"

#define CELL_BUCKETS_MAX 512U
#define CELL_BUCKETS_MIN 32U
#define CELLS_MANY (1U << 18)
#define CELLS_MAX (1U << 20)

struct time_cell {
	struct intern_key key; /* paths, thread, source and CPU */
	u32 user, kernel; /* paths of the recording, by id: they outlive the paths themselves */
	const struct tree_node
		*stack; /* what they are in the tree; NULL until it is placed there */
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
	u32 bucket;	     /* the newest; keys lead to cells of this one only */
};

void time_cells_begin(struct time_cells *cells);
void time_cells_clear(struct time_cells *cells);

/* What is counted at which time: paths, thread, source, cpu, count and value of `what`. Times
 * ascend. */
int time_cells_add(struct time_cells *cells, u64 time, const struct time_cell *what);

/* Says in advance what will be added: see intern_expect(). */
void time_cells_expect(const struct time_cells *cells, const struct time_cell *what, u32 step);

/* Makes the buckets at least 2^shift ns wide. -ENOMEM. */
int time_cells_widen(struct time_cells *cells, u32 shift);

static inline struct time_cell *time_cells_at(const struct time_cells *cells, u32 index)
{
	return cells->cells.entries[index];
}

#endif
