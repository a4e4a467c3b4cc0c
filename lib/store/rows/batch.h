/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A batch is what a machine sends at a time: the rows of some windows, with one buffer for each
 * table of the store. A batch is built once, and the same bytes are sent until they are stored. A
 * batch that is sent twice is therefore stored once.
 *
 * The ledger of a batch is kept as numbers. If the events of a batch are lost on the way to the
 * store, the ledger is still sent and counts these events as lost.
 *
 *   for each window: produced = recorded + sum of lost; recorded = sum of count over its events
 */
#ifndef LIB_STORE_ROWS_BATCH_H
#define LIB_STORE_ROWS_BATCH_H

#include "ledger.h"
#include "store/wire/schema.h"

struct window_ledger {
	u32 time;    /* seconds since the epoch: the start of the window */
	u16 seconds; /* length of the window in seconds */
	s32 skew;    /* seconds that were added to the machine's clock to get `time` */
	u64 produced, recorded;
	u64 lost[LOST_COUNT];
	u64 stored; /* number of events that the store has although the batch was abandoned */
};

struct batch {
	char *host;
	char *boot; /* boot id of the machine (/proc/sys/kernel/random/boot_id) */
	u64 number; /* ascending number of the batch, given by the spool */
	/* rows of each table, as RowBinary; the buffer of the ledger's table stays empty */
	struct byte_buffer rows[STORE_TABLE_COUNT];
	u32 row_count[STORE_TABLE_COUNT];
	struct window_ledger *windows;
	u32 window_count, window_room;
};

/*
 * Appends the ledger's rows in the form in which they are sent. `lost_as` NULL: all events are
 * stored. Otherwise events that were recorded and are not stored count as lost by this cause
 * (spool.h: LOST_AS_...), in rows that replace rows sent earlier. -ENOMEM.
 */
int batch_append_ledger_rows(const struct batch *batch, const char *lost_as,
			     struct byte_buffer *rows);

void batch_clear(struct batch *batch);

#endif
