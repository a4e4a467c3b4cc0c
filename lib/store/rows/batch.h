/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a machine sends at a time: the rows of some windows, a body for each table, as the tables of
 * the store have them. A batch is made once and sent as the same bytes until they are stored, so
 * that sending it twice stores it once.
 *
 * The ledger is kept as numbers: if the events of a batch are lost on the way, their ledger is
 * what is still sent, and says so.
 *
 *   of each window: produced = recorded + sum of lost; recorded = sum of count over its events
 */
#ifndef LIB_STORE_ROWS_BATCH_H
#define LIB_STORE_ROWS_BATCH_H

#include "ledger.h"
#include "store/wire/schema.h"

struct window_ledger {
	u32 time;    /* seconds since the epoch: the start of the window */
	u16 seconds; /* its length */
	s32 skew;    /* seconds that were added to the machine's clock to get `time` */
	u64 produced, recorded;
	u64 lost[LOST_COUNT];
	u64 stored; /* of a batch that was given up: what is in the store all the same */
};

struct batch {
	char *host;
	char *boot; /* id of the boot */
	u64 number; /* of the batch: ascending; the spool gives it */
	struct byte_buffer rows[STORE_TABLE_COUNT]; /* RowBinary; that of the ledger stays empty */
	u32 row_count[STORE_TABLE_COUNT];
	struct window_ledger *windows;
	u32 window_count, window_room;
};

/* Rows of the ledger as they are sent: `lost_as` NULL: all is stored; else what was recorded and is
 * not stored counts as lost by this cause (spool.h: LOST_AS_...), in rows that win over
 * those of before. -ENOMEM. */
int batch_ledger_rows(const struct batch *batch, const char *lost_as, struct byte_buffer *rows);

void batch_clear(struct batch *batch);

#endif
