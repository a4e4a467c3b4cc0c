/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of all blocks in the order of time. Blocks are opened when the merge arrives at their
 * first time and dropped after their last event, so that about one block a CPU is in memory.
 */
#ifndef LIB_TRACE_EVENT_MERGE_H
#define LIB_TRACE_EVENT_MERGE_H

#include "arena.h"
#include "trace/block/event_block.h"

struct event_block {
	u64 offset; /* in the file */
	u64 first_time;
	u32 records;
	u32 sequence;
	u16 cpu;
	struct event_limits limits; /* what the file had defined before this block */
};

/* By first time, then CPU, then place in the file. */
void event_blocks_sort(struct event_block *blocks, u32 count);

struct event_file {
	const char *path; /* as errors name it */
	int fd;
	u64 end;
	struct arena *limit; /* open blocks are counted against it */
};

/* `blocks` are sorted. Returns the first non-zero of `each`, or -errno. */
int event_merge_run(const struct event_block *blocks, u32 count, const struct event_file *file,
		    int (*each)(void *arg, const struct trace_event *event), void *arg,
		    struct stackmap_error *error);

#endif
