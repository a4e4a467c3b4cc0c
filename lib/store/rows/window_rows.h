/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns recorded windows of a machine's events into rows for its store: events, added up by their
 * key in the store; stacks, frames and objects, once a day; and the ledger of each window. Several
 * windows make a batch.
 *
 * Equal windows make equal bytes.
 */
#ifndef LIB_STORE_WINDOW_ROWS_H
#define LIB_STORE_WINDOW_ROWS_H

#include "store/rows/batch.h"
#include "trace/read/reader.h"

struct window_rows;

struct task_service {
	const char *service, *version;
};

/*
 * A function that names the service of a task. `cgroup` is a path, "" if it is not known. The
 * returned texts must stay valid until the next call.
 */
typedef struct task_service (*task_service_of)(void *arg, const char *cgroup,
					       bool is_kernel_thread);

/* Options of window_rows_create(), which copies the texts. */
struct window_rows_options {
	const char *host;
	const char *boot;
	u64 memory; /* bytes for the caches of stack hashes and of sent keys */
	task_service_of service_of;
	void *arg;
};

/* The time of a window by the store's clock. */
struct window_time {
	u32 time; /* start of the window, seconds since the epoch */
	u16 seconds;
	s32 skew; /* seconds that were added to the time of this machine's clock */
};

int window_rows_create(const struct window_rows_options *options, struct window_rows **out);
void window_rows_free(struct window_rows **rows);

/*
 * Sets the labels of the row that describes the machine, each "key=value"; they are sent with the
 * next window. The labels are copied.
 */
int window_rows_set_labels(struct window_rows *rows, const char *const *labels, u32 count);

/*
 * Adds the events of a window, all with the time `time`, which no other window of the machine has.
 * A failure loses all windows since the last batch, as window_rows_count_batch_as_lost() does.
 */
int window_rows_add(struct window_rows *rows, struct trace_reader *reader,
		    const struct window_time *time, struct stackmap_error *error);

u32 window_rows_window_count(
	const struct window_rows *rows); /* number of windows since the last batch */
/* bytes of memory that the windows since the last batch take, about */
u64 window_rows_bytes(const struct window_rows *rows);

/*
 * Moves all rows since the last batch into *batch, which the caller clears; the spool numbers the
 * batch. A failure has the same effect as window_rows_count_batch_as_lost().
 */
int window_rows_take(struct window_rows *rows, struct batch *batch);

/*
 * Drops the rows since the last batch. Their windows stay in the ledger, with all recorded events
 * as lost ("write_error"), and the cache of sent keys is cleared.
 */
void window_rows_count_batch_as_lost(struct window_rows *rows);

/*
 * Marks the events of a taken batch as lost, because the batch could not be kept. The ledger of its
 * windows is sent with the next batch.
 */
void window_rows_add_lost_windows(struct window_rows *rows, const struct batch *batch);

/* Clears the cache of sent keys after the loss of a batch: stacks and frames are sent again. */
void window_rows_clear_sent_cache(struct window_rows *rows);

#endif
