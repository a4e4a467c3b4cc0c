/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows of a machine's events, as they are recorded, to the rows that its store gets: events
 * added up by the key that they have there; stacks, frames and objects once a day; the ledger of
 * each window. Several windows make a batch.
 *
 * The same windows make the same bytes.
 */
#ifndef LIB_STORE_WINDOW_ROWS_H
#define LIB_STORE_WINDOW_ROWS_H

#include "store/rows/batch.h"
#include "trace/read/reader.h"

struct window_rows;

struct task_service {
	const char *service, *version;
};

/* `cgroup`: its path, "" if it is not known. The texts need to last until the next call only. */
typedef struct task_service (*task_service_of)(void *arg, const char *cgroup,
					       bool is_kernel_thread);

/* Texts are copied. */
struct window_rows_options {
	const char *host;
	const char *boot;
	u64 memory; /* bytes to remember by what was met and sent */
	task_service_of service_of;
	void *arg;
};

/* When a window was, by the clock of all machines. */
struct window_time {
	u32 time; /* seconds since the epoch: its start */
	u16 seconds;
	s32 skew; /* that were added to this machine's clock */
};

int window_rows_create(const struct window_rows_options *options, struct window_rows **out);
void window_rows_free(struct window_rows **rows);

/* What the row of the machine says of it, as "key=value"; sent with the next window. Copied. */
int window_rows_label(struct window_rows *rows, const char *const *labels, u32 count);

/* Takes the events of a window, all at `time`. No two windows of a machine have one. A failure is
 * that of all windows since the last batch: window_rows_drop(). */
int window_rows_add(struct window_rows *rows, struct trace_reader *reader,
		    const struct window_time *time, struct stackmap_error *error);

u32 window_rows_windows(const struct window_rows *rows); /* since the last batch */
u64 window_rows_bytes(const struct window_rows *rows);	 /* of memory that these take, about */

/* All since the last batch; the spool gives it a number. *batch: to be cleared by the caller. After
 * a failure as after window_rows_drop(). */
int window_rows_take(struct window_rows *rows, struct batch *batch);

/* The rows since the last batch are gone. Their windows stay, with all that was recorded as lost
 * ("write_error"), and what was sent counts as not sent. */
void window_rows_drop(struct window_rows *rows);

/* The same of a batch that was taken and could not be kept: its windows go with the next one. */
void window_rows_lose(struct window_rows *rows, const struct batch *batch);

/* A batch was lost: stacks and frames are sent again when they are met. */
void window_rows_forget(struct window_rows *rows);

#endif
