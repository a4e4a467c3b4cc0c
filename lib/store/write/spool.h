/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batches on disk, between a machine's recorder, which fills the spool, and its sender, which
 * drains it. Both may be killed, and the machine may lose its power, at any moment. A folder is all
 * that the two ends share, so they may be threads or processes; there is one of each, which flock()
 * sees to.
 *
 * A batch is one file that never changes. In a full spool the oldest batch's rows make room; its
 * ledger stays as a small file, so that its events are known to be lost.
 *
 *   NUMBER.batch    rows and ledger      NUMBER.lost  a ledger, and why the rows are gone
 *   NUMBER.refused  a batch that no server took: set aside, for people to look at
 *   state           the next number, and which times windows have had
 */
#ifndef LIB_STORE_WRITE_SPOOL_H
#define LIB_STORE_WRITE_SPOOL_H

#include <stdbool.h>

#include "store/rows/batch.h"

#define SPOOL_FOLDER "/var/lib/stackmap/agent"
#define SPOOL_BYTES_DEFAULT (256UL << 20)

/* Why rows are not in the store: names of causes in the ledger, besides those of ledger.h. */
#define LOST_AS_SPOOL_FULL "spool_full"
#define LOST_AS_CLOCK "clock"
#define LOST_AS_DAMAGED "damaged"
#define LOST_AS_REFUSED "refused"

struct spool;

enum spool_end { SPOOL_FILL, SPOOL_DRAIN };

struct spool_options {
	const char *folder; /* made if it is missing: mode 0700 */
	u64 most_bytes;	    /* of all files together */
	enum spool_end end;
	/* What is wrong with the spool, once each. NULL: nobody wants to know. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

/* -EPERM: the folder belongs to somebody else, or others may write to it. -EBUSY: that end is in
 * use. Half-written files of this end are removed. */
int spool_open(const struct spool_options *options, struct spool **out,
	       struct stackmap_error *error);
void spool_close(struct spool **spool);

/* The recorder's end: stores a batch, whose number it sets. Older ones may go for it. */
int spool_put(struct spool *spool, struct batch *batch, struct stackmap_error *error);

/* Takes the time for a window that begins `now`, in seconds since the epoch (of a clock that was
 * corrected): the first second from `now` on that no window of the last day or of the next has, of
 * earlier agents too. A machine's windows are told apart by their times, and by nothing else. The
 * clock may go ahead and back meanwhile: only times that are in use are passed over. */
u32 spool_take_window(struct spool *spool, u32 now);

/* A batch as it comes back. Its rows are as they are sent: packed (packed_rows.h) or plain. */
struct spooled_batch {
	struct batch ledger; /* rows are empty */
	char *lost_as;	     /* NULL: the rows are here; else why they are gone */
	struct spooled_rows {
		const u8 *bytes;
		size_t length;
		bool packed;
	} rows[STORE_TABLE_COUNT];
	u8 *data;
	size_t bytes;
};

/* The sender's end: the oldest one for which `skips` is false (NULL: the oldest). -ENOENT: there is
 * none. What is damaged is said, counted and removed; if its ledger can be read, that stays. */
int spool_oldest(struct spool *spool, bool (*skips)(const void *arg, u64 number), const void *arg,
		 struct spooled_batch *out, struct stackmap_error *error);
void spooled_batch_clear(struct spooled_batch *batch);

/* It is stored, or its loss is: forgets it. */
int spool_done(struct spool *spool, const struct spooled_batch *batch);
/* Its rows go, the ledger stays. */
int spool_give_up(struct spool *spool, const struct spooled_batch *batch, const char *lost_as,
		  struct stackmap_error *error);

/* The same, and the file stays as NUMBER.refused while there is room; of a ledger nothing stays. */
int spool_set_aside(struct spool *spool, const struct spooled_batch *batch,
		    struct stackmap_error *error);

struct spool_count {
	u32 batches; /* with their rows */
	u32 ledgers; /* without */
	u64 bytes;   /* of both */
	u32 refused; /* that were set aside */
	u64 newest;  /* number of the newest batch or ledger; 0: there is none */
	/* Since this end was opened. */
	u32 dropped;   /* batches whose rows went */
	u32 forgotten; /* ledgers that went, too: too many for the spool */
	u32 damaged;
};

int spool_count(struct spool *spool, struct spool_count *out);

#endif
