/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The data of a flame graph's page: one JSON object, whose arrays are columns (all names, then all
 * objects...), because that is half as long as an array of objects, and quick to read. It stands in
 * a <script> element, which ends at the first "</script": so no `<`, `>` or `&` of a name is
 * written as it is. The rest is ASCII.
 *
 *   version     1
 *   recordings  [{name, command, host, kernel, machine, cpus, frequency, start (s since the epoch),
 *               events, first, last (s, as `script` shows), produced, recorded (or null)}]
 *   sources     [{name, unit}]; unit "" has no value
 *   threads     [{pid, tid, comm}]
 *   kinds       names of enum frame_kind
 *   objects     files and modules, "" for none
 *   frames      {name, object (index), kind (index)}, sorted by name
 *   nodes       {up, frame}: the tree of stacks in preorder, without its root: a node's parent is
 *               `up` levels above the node before it
 *   bucket      seconds
 *   cells       for each recording {bucket, stack, source, thread, cpu, count, value}: bucket
 *               is the difference to the cell before it, stack a node: 1 is the first, 0 the root
 */
#ifndef LIB_FLAMEGRAPH_PAGE_DATA_H
#define LIB_FLAMEGRAPH_PAGE_DATA_H

#include "flamegraph/graph.h"

/* -ENOMEM. The tree is sorted, the cells of all recordings have buckets of one width. */
int page_data_write(const struct flamegraph *graph, FILE *to);

#endif
