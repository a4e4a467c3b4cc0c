/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool keeps batches on disk, between a machine's recorder, which fills the spool, and its
 * sender, which drains it. Both may be killed, and the machine may lose power, at any moment. The
 * two ends share a folder only, so they may be threads or processes; flock() allows one of each.
 *
 * A batch is one file that never changes. A full spool drops the rows of the oldest batch. The
 * ledger of that batch stays as a small file, so that its events count as lost.
 *
 *   NUMBER.batch    rows and ledger      NUMBER.lost  a ledger, and the cause of the loss
 *   NUMBER.refused  a batch that the servers refused: kept for inspection
 *   state           the next number, and the used times of windows
 */
#ifndef LIB_STORE_WRITE_SPOOL_H
#define LIB_STORE_WRITE_SPOOL_H

#include <stdbool.h>

#include "store/write/batch_file.h"

#define SPOOL_FOLDER "/var/lib/stackmap/agent"
#define SPOOL_BYTES_DEFAULT (256UL << 20)

/* Causes of loss between recorder and store: names in the ledger, besides those of ledger.h. */
#define LOST_AS_SPOOL_FULL "spool_full"
#define LOST_AS_CLOCK "clock"
#define LOST_AS_DAMAGED "damaged"
#define LOST_AS_REFUSED "refused"

struct spool;

enum spool_end { SPOOL_FILL, SPOOL_DRAIN };

struct spool_options {
	const char *folder; /* made if it is missing: mode 0700 */
	u64 most_bytes;	    /* limit for all files together */
	enum spool_end end;
	/* Gets a message about each fault of the spool, once each; may be NULL. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

/* -EPERM: the folder belongs to another user, or other users may write to it. -EBUSY: the end is in
 * use. Half-written files of this end are removed. */
int spool_open(const struct spool_options *options, struct spool **out,
	       struct stackmap_error *error);
void spool_close(struct spool **spool);

/* The recorder's end: stores a batch and sets its number. Older batches may be dropped for it. */
int spool_put(struct spool *spool, struct batch *batch, struct stackmap_error *error);

/* Reserves a time for a window that begins `now`, in seconds since the epoch by the corrected
 * clock: the first second from `now` on that no window within a day of `now` uses, those of earlier
 * agents included. Windows of a machine are identified by their times alone. The clock may be set
 * ahead and back meanwhile: only used times are skipped. */
u32 spool_take_window(struct spool *spool, u32 now);

/* The sender's end: reads the oldest batch for which `skips` is false (NULL: the oldest). -ENOENT:
 * there is no such batch. Damaged files are logged, counted and removed; a readable ledger stays.
 */
int spool_oldest(struct spool *spool, bool (*skips)(const void *arg, u64 number), const void *arg,
		 struct spooled_batch *out, struct stackmap_error *error);
void spooled_batch_clear(struct spooled_batch *batch);

/* Removes a batch that is stored, or a ledger that is stored. */
int spool_done(struct spool *spool, const struct spooled_batch *batch);
/* Replaces a batch by its ledger. */
int spool_give_up(struct spool *spool, const struct spooled_batch *batch, const char *lost_as,
		  struct stackmap_error *error);

/* Replaces a batch by its ledger and keeps the file as NUMBER.refused while there is room; removes
 * a ledger. */
int spool_set_aside(struct spool *spool, const struct spooled_batch *batch,
		    struct stackmap_error *error);

struct spool_count {
	u32 batches; /* with their rows */
	u32 ledgers; /* without their rows */
	u64 bytes;   /* batches and ledgers */
	u32 refused; /* batches that were set aside */
	u64 newest;  /* number of the newest batch or ledger; 0: the spool is empty */
	/* Counted since this end was opened. */
	u32 dropped;   /* batches whose rows were dropped */
	u32 forgotten; /* ledgers that were dropped */
	u32 damaged;
};

int spool_count(struct spool *spool, struct spool_count *out);

#endif
