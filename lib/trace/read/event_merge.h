/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merges the events of all blocks in the order of time. A block is opened when the merge reaches
 * its first time and freed after its last event, so about one block for each CPU is in memory.
 */
#ifndef LIB_TRACE_EVENT_MERGE_H
#define LIB_TRACE_EVENT_MERGE_H

#include "arena.h"
#include "stackmap/error.h"
#include "trace/block/event_block.h"
#include "trace/event.h"

struct event_block {
	u64 offset; /* offset of the block in the file */
	u64 first_time;
	u32 records;
	u32 sequence;
	u16 cpu;
	/* counts of the definitions in the file before this block */
	struct event_limits limits;
};

struct event_file {
	const char *path; /* path of the file for messages */
	int fd;
	u64 end;
	struct arena *limit;	/* limit of the memory that open blocks take */
	const bool *is_swapped; /* by kind of event, true: value and second value are swapped; NULL:
				   no values are swapped */
};

/* Sorts the blocks by first time, then CPU, then position in the file. */
void event_blocks_sort(struct event_block *blocks, u32 count);

/* Calls `each` for the events of all blocks, which are sorted. Returns the first non-zero result of
 * `each`, or -errno. */
int event_merge_run(const struct event_block *blocks, u32 count, const struct event_file *file,
		    int (*each)(void *arg, const struct trace_event *event), void *arg,
		    struct stackmap_error *error);

#endif
