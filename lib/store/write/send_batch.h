/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One batch, or the ledger of one whose rows are gone, to one server; and what the server has of
 * it. */
#ifndef LIB_STORE_WRITE_SEND_BATCH_H
#define LIB_STORE_WRITE_SEND_BATCH_H

#include "store/write/spool.h"

/* How far a batch is. */
struct batch_progress {
	enum store_table next; /* the table whose rows go next */
	bool in_doubt;	       /* its events may be there, or some of them */
	u64 rows;	       /* sent, of all tables */
	u64 doubts, repeats;   /* questions; events sent that may have been sent before */
};

/* Goes on from progress->next. On failure the same again, later. */
int send_batch(struct clickhouse *server, const struct spooled_batch *batch,
	       struct batch_progress *progress, struct clickhouse_result *result,
	       struct stackmap_error *error);

/* Sends the ledger of a batch whose rows are gone. What of it is in the store is not called lost.
 */
int send_lost_ledger(struct clickhouse *server, struct spooled_batch *batch,
		     struct clickhouse_result *result, struct stackmap_error *error);

#endif
