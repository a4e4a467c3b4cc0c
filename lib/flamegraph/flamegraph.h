/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A flame graph of one recording, or a comparison of two recordings, as one self-contained HTML
 * page. The page holds all stacks and their counts by source, thread, CPU and time bucket, so that
 * the user of the page can select by these.
 */
#ifndef LIB_FLAMEGRAPH_FLAMEGRAPH_H
#define LIB_FLAMEGRAPH_FLAMEGRAPH_H

#include <stdio.h>

#include "report/event/event_filter.h"
#include "report/name/frame_names.h"

#define FLAMEGRAPH_RECORDINGS_MAX 2

struct flamegraph;

/* Creates a graph of `recordings` recordings. The objects that `naming` points to must outlive the
 * graph. -ENOMEM. */
int flamegraph_create(const struct frame_naming *naming, u32 recordings, struct flamegraph **out);
void flamegraph_free(struct flamegraph **graph);

/* Sets the functions, as globs, in which a thread is idle. An empty list stands for
 * WAIT_IDLE_FUNCTIONS. The list must outlive the graph. */
void flamegraph_set_idle(struct flamegraph *graph, const struct string_list *idle);

/* Adds those events of a recording that pass the filter. The reader must outlive the graph; `name`
 * is copied. */
int flamegraph_add(struct flamegraph *graph, struct trace_reader *reader, const char *name,
		   const struct event_filter *filter, struct stackmap_error *error);

/* Writes the page; called once. Errors of writing need not be returned: the caller checks ferror()
 * and fclose() of `to`. */
int flamegraph_write(struct flamegraph *graph, FILE *to, struct stackmap_error *error);

/* The number of events of all recordings. */
u64 flamegraph_events(const struct flamegraph *graph);

#endif
