/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a question to the store, added up by its servers: one row for each stack, comm and
 * event name, and on request each cgroup and time step. Equal rows of two servers are not added up.
 *
 * If there are more stacks than the cap, only the stacks with the largest shares of their events
 * are shown. All other stacks become one stack, whose counts are exact.
 */
#ifndef LIB_STORE_READ_COUNTS_H
#define LIB_STORE_READ_COUNTS_H

#include "intern.h"
#include "store/read/selection.h"

#define STORE_HASH_BYTES 16
#define STORE_STACK_REST 0 /* the stack number that stands for all stacks beyond the cap */

struct store_count {
	u32 stack, event; /* number of the stack, and number of the event name in `events` */
	u32 comm, cgroup;
	u32 time; /* start of the time step, seconds since the epoch */
	u64 count, value;
};

struct store_counts {
	struct store_count *counts;
	u32 count, room;
	struct intern stacks; /* entries: struct intern_number, in the order of their numbers; the
				 key is the stack hash, in word[0] and word[1] */
	struct text_set events, comms, cgroups;
	bool is_capped;
	u64 events_taken; /* sum of the event counts that were read so far, which has a limit */
};

int store_counts_read(struct shards *shards, const struct store_question *question,
		      const struct selection *selection, struct store_counts *counts,
		      struct stackmap_error *error);
void store_counts_clear(struct store_counts *counts);

/*
 * Counts the events of a question by host, service and version. The events may be limited to one
 * stack, or to one function anywhere in their stacks.
 *
 * The glob of a function is matched by this program, against the mangled and the demangled function
 * names in the store.
 */

struct store_host_count {
	char *host, *service, *version, *event;
	u64 count, value;
};

struct store_host_counts {
	struct store_host_count *counts; /* rows sorted by count, largest first */
	u32 count, room;
	u64 sum; /* sum of all counts */
};

/*
 * `stack`: the 16 bytes of a stack's hash, or NULL; `function`: a glob, or NULL. -ENOENT: no
 * function name in the store matches.
 */
int store_host_counts_read(struct shards *shards, const struct store_question *question,
			   const u8 *stack, const char *function, struct store_host_counts *counts,
			   struct stackmap_error *error);
void store_host_counts_clear(struct store_host_counts *counts);

#endif
