/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What there is to say of an instance at this moment, while it records. */
#ifndef LIB_CAPTURE_STATUS_H
#define LIB_CAPTURE_STATUS_H

#include <sys/types.h>

#include "capture/load/loaded.h"
#include "format/stack_map_bin_reader.h"
#include "stack_table.h"
#include "trace/event.h"

struct folder;

/* How its user stacks are taken. */
enum user_way {
	USER_WAY_NONE,
	USER_WAY_FP,	   /* frame pointers */
	USER_WAY_DEFERRED, /* unwound in the kernel, if not at the event then when the task leaves
			      it */
	USER_WAY_ASSISTED, /* by frame pointers and what is known; the rest by a reader, if there is
			      one */
};

enum user_way user_way_of(const struct loaded *loaded);

/* Of the current generation of its stack map. */
void instance_table_stat(struct loaded *loaded, struct table_stat *stacks);

/* Calls `each` for every stack of the current generation, in the order of the file stack_map_bin,
 * and returns its first non-zero value. The caller holds the control lock (capture/bpffs/folder.h),
 * so that the generation is not reset meanwhile; stacks that are stored meanwhile may be missing.
 */
int instance_stacks(struct loaded *loaded,
		    int (*each)(void *arg, const struct stack_map_bin_stack *stack), void *arg);

struct instance_status {
	bool paused;
	bool flight;
	pid_t reader; /* who empties its rings; 0: nobody */
	enum user_way user_way;
	struct table_stat stacks; /* of the current generation */
	u64 memory;		  /* bytes of its maps, without what it shares with others */
	u64 rings, tables;	  /* of these: rings of events; the generations of the stack map */
	struct trace_ledger ledger; /* since it began */
};

/* Of an instance that was opened from `folder`. */
void instance_status_read(struct loaded *loaded, struct folder *folder,
			  struct instance_status *status);

#endif
