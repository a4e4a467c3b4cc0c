/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The spool keeps batches on disk, between a machine's recorder, which fills the spool, and its
 * sender, which empties it. Both may be killed, and the machine may lose power, at any moment.
 * Recorder and sender share only a folder, so they may be threads or processes; flock() allows one
 * recorder and one sender.
 *
 * A batch is one file that never changes. A full spool drops the rows of the oldest batch. The
 * ledger of that batch stays as a small file, so that its events count as lost.
 *
 *   NUMBER.batch    rows and ledger      NUMBER.lost  a ledger, and the cause of the loss
 *   NUMBER.refused  a batch that the servers refused: kept for inspection
 *   state           the next number, and the times that windows have used
 */
#ifndef LIB_STORE_WRITE_SPOOL_H
#define LIB_STORE_WRITE_SPOOL_H

#include <stdbool.h>

#include "store/write/batch_file.h"

#define SPOOL_FOLDER "/var/lib/stackmap/agent"
#define SPOOL_BYTES_DEFAULT (256UL << 20)

/*
 * Names for the causes of loss between recorder and store. The ledger has them besides the causes
 * of ledger.h.
 */
#define LOST_AS_SPOOL_FULL "spool_full"
#define LOST_AS_CLOCK "clock"
#define LOST_AS_DAMAGED "damaged"
#define LOST_AS_REFUSED "refused"

struct spool;

enum spool_end { SPOOL_FILL, SPOOL_DRAIN };

struct spool_options {
	const char *folder; /* path of the folder, which is made with mode 0700 if it is missing */
	u64 most_bytes;	    /* limit for the bytes of all files together */
	enum spool_end end;
	/* Function that gets a message about each damaged file, and one message about files that
	 * are not this user's; may be NULL. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

/*
 * -EPERM: the folder belongs to another user, or other users may write to it. -EBUSY: another
 * recorder, or another sender, has the spool open. Half-written files of this recorder or sender
 * are removed.
 */
int spool_open(const struct spool_options *options, struct spool **out,
	       struct stackmap_error *error);
void spool_close(struct spool **spool);

/*
 * For the recorder: stores a batch and sets its number. Older batches may be dropped to make room.
 */
int spool_put(struct spool *spool, struct batch *batch, struct stackmap_error *error);

/*
 * Reserves a time for a window that begins `now`, in seconds since the epoch by the corrected
 * clock. The result is the first second from `now` on that no window within a day of `now` has,
 * including windows of earlier agents. Windows of a machine are identified by their times alone.
 * The clock may be set forward and back meanwhile: only used times are skipped.
 */
u32 spool_reserve_window_time(struct spool *spool, u32 now);

/*
 * For the sender: reads the oldest batch for which `skips` is false (NULL: the oldest batch).
 * -ENOENT: there is no such batch. Damaged files are logged, counted and removed. If the ledger of
 * a damaged file is readable, the ledger stays.
 */
int spool_oldest(struct spool *spool, bool (*skips)(const void *arg, u64 number), const void *arg,
		 struct spooled_batch *out, struct stackmap_error *error);
void spooled_batch_clear(struct spooled_batch *batch);

/* For the sender: removes a batch or a ledger that the store has. */
int spool_remove_sent_batch(struct spool *spool, const struct spooled_batch *batch);
/* For the sender: replaces a batch by its ledger, which says that the rows are lost as `lost_as`.
 */
int spool_replace_batch_by_ledger(struct spool *spool, const struct spooled_batch *batch,
				  const char *lost_as, struct stackmap_error *error);

/*
 * Replaces a batch by its ledger, and keeps the file as NUMBER.refused if there is room. If only a
 * ledger was left, it is removed.
 */
int spool_set_batch_aside(struct spool *spool, const struct spooled_batch *batch,
			  struct stackmap_error *error);

struct spool_count {
	u32 batches; /* number of batches that still have their rows */
	u32 ledgers; /* number of ledgers of batches whose rows were dropped */
	u64 bytes;   /* bytes of batches and ledgers together */
	u32 refused; /* number of batches that were set aside */
	u64 newest;  /* number of the newest batch or ledger; 0: the spool is empty */
	/* Counted since this recorder or sender opened the spool. */
	u32 dropped;   /* number of batches whose rows were dropped */
	u32 forgotten; /* number of ledgers that were dropped */
	u32 damaged;
};

int spool_count(struct spool *spool, struct spool_count *out);

#endif
