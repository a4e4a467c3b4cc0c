/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page: what the build embedded, with the data of this graph between. Two recordings share one
 * axis of time, so their buckets must be equally wide. */
#include <string.h>

#include "error.h"
#include "graph.h"
#include "page.h"
#include "page_data.h"

static int align_buckets(struct flamegraph *graph)
{
	u32 shift = 0;
	int err = 0;

	for (u32 i = 0; i < graph->recording_count; i++)
		if (graph->recordings[i].cells.shift > shift)
			shift = graph->recordings[i].cells.shift;
	for (u32 i = 0; i < graph->recording_count && !err; i++)
		err = time_cells_widen(&graph->recordings[i].cells, shift);
	return err;
}

int flamegraph_write(struct flamegraph *graph, FILE *to, struct stackmap_error *error)
{
	int err = align_buckets(graph) ?: stack_tree_sort(&graph->tree);

	if (err)
		return error_set(error, -err, "flame graph: %s", strerror(-err));
	fputs(page_before_data, to);
	err = page_data_write(graph, to);
	fputs(page_after_data, to);
	return err ? error_set(error, -err, "flame graph: %s", strerror(-err)) : 0;
}
