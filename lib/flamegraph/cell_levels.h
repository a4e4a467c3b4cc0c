/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bounds the number of cells, so that a page of any recording can be opened. The first level joins
 * the cells of all CPUs and of neighbouring times; later levels join the cells of threads of one
 * name, too, and leave fewer and fewer of the hottest threads apart. The sums of the joined cells,
 * and those of stacks, stay exact.
 */
#ifndef LIB_FLAMEGRAPH_CELL_LEVELS_H
#define LIB_FLAMEGRAPH_CELL_LEVELS_H

#include "flamegraph/graph.h"

/* While events are counted: the memory of a graph. */
#define CELLS_MAX (1U << 20)

/* A page with more than CELLS_MANY cells (6 MB) is left CELLS_SMALL (less than 2 MB). */
#define CELLS_SMALL (1U << 16)

/* Leaves `most` cells, or what the last level leaves. -ENOMEM. */
int cell_levels_bound(struct flamegraph *graph, struct graph_recording *recording, u32 most);

#endif
