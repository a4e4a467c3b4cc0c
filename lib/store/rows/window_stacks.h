/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of one window: their hashes, and the rows of those that were not sent yet today: the
 * stack, its frames, and the objects that these are of. All of a stack goes out with it, so that
 * what a day's partition needs is in that day.
 *
 * A frame without a symbol is sent without a name, which only says that it is there: whoever has
 * the object's debug file can name it in the store.
 */
#ifndef LIB_STORE_WINDOW_STACKS_H
#define LIB_STORE_WINDOW_STACKS_H

#include "report/event/stack_hash.h"
#include "store/rows/batch.h"
#include "store/rows/sent_memory.h"
#include "store/rows/stack_memo.h"

struct window_stacks;

/* The day of the rows (days since the epoch), and where they go to; `sent` is of that day, `memo`
 * of the windows before. All must outlive the stacks. */
struct stack_rows {
	u16 day;
	struct sent_memory *sent;
	struct stack_memo *memo;
	struct batch *batch;
};

int window_stacks_create(struct trace_reader *reader, const struct stack_rows *rows,
			 struct window_stacks **out);
void window_stacks_free(struct window_stacks **stacks);

/* The hash of an event's stack, whose rows are in the batch if they were not sent before. -ENOMEM.
 */
int window_stacks_add(struct window_stacks *stacks, const struct trace_event *event,
		      struct stack_hash *hash);

#endif
