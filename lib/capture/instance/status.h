/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the state of an instance while it records. */
#ifndef LIB_CAPTURE_STATUS_H
#define LIB_CAPTURE_STATUS_H

#include <sys/types.h>

#include "capture/instance/self_stop.h"
#include "capture/load/loaded.h"
#include "format/stack_map_bin_reader.h"
#include "stack_table.h"
#include "trace/event.h"

struct folder;

/* The method by which user stacks are taken. */
enum user_way {
	USER_WAY_NONE,
	USER_WAY_FP,	   /* user stacks are taken by frame pointers */
	USER_WAY_DEFERRED, /* BPF programs unwind user stacks, at the event or when the task leaves
			      the kernel */
	USER_WAY_ASSISTED, /* BPF programs unwind user stacks as far as unwind rules are known; a
			      reader unwinds the rest */
};

enum user_way instance_user_stack_method(const struct loaded *loaded);

/* Reads counts and sizes of the current table of the stack map. */
void instance_read_table_stat(struct loaded *loaded, struct table_stat *stacks);

/* Calls each() for all stacks of the current table of the stack map, in the order of the file
 * stack_map_bin. Stops at the first non-zero return and returns it. The caller holds the lock of
 * the folder (capture/bpffs/folder.h), which prevents a reset. Stacks that are stored meanwhile may
 * be missing. */
int instance_each_stack(struct loaded *loaded,
			int (*each)(void *arg, const struct stack_map_bin_stack *stack), void *arg);

struct instance_status {
	bool paused;
	bool flight;
	struct self_stop stop;
	pid_t reader; /* id of the process that empties the rings; 0 = no reader */
	enum user_way user_way;
	struct table_stat stacks; /* counts and sizes of the current table of the stack map */
	u64 memory;	   /* bytes of the instance's maps, without maps that instances share */
	u64 rings, tables; /* bytes of the rings and of the tables of the stack map, which are part
			      of `memory` */
	/* of an instance that aggregates, on the CPU with most rows in use; 0: it does not */
	u32 rows_used, rows_max;
	struct trace_ledger ledger; /* ledger since the start of the instance */
};

/* Reads the status of an instance that was opened from `folder`. */
void instance_status_read(struct loaded *loaded, struct folder *folder,
			  struct instance_status *status);

#endif
