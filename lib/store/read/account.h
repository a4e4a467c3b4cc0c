/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks whether a store has all events that its hosts have sent. Each host reports for each window
 *
 *   produced = recorded + sum of lost
 *
 * and its rows of `events` should add up to `recorded`. A larger sum means that inserts were
 * repeated and are not merged yet, so events are read with FINAL. A smaller sum means that events
 * are missing, which counts as one more cause of loss:
 *
 *   produced = (recorded - missing) + sum of lost + missing
 *
 * The account is read first, for all events of the hosts, because missing events cannot be
 * attributed to a service or another field of the question.
 */
#ifndef LIB_STORE_READ_ACCOUNT_H
#define LIB_STORE_READ_ACCOUNT_H

#include "hash_index.h"
#include "ledger.h"
#include "store/read/selection.h"

struct store_host {
	char *name;
	u32 shard;
	u64 produced, recorded;
	u64 stored;   /* sum of the counts in `events`, repeated rows included */
	u64 repeated; /* the part of `stored` that is in repeated rows */
	u64 missing;
	u64 surplus; /* number of events that the store has in excess of what the host counts as
			recorded */
	char *kernel,
		*machine; /* release of the kernel and name of the architecture; NULL: unknown */
	u32 cpus;
};

struct store_account {
	struct store_host *hosts;
	struct hash_index index; /* index of `hosts`, by shard and name */
	u32 count, room;
	u64 produced, recorded; /* sums over all hosts; `recorded` excludes missing events */
	u64 lost[LOST_COUNT];
	u64 missing;
};

int store_account_read(struct shards *shards, const struct store_question *question,
		       const struct selection *selection, struct store_account *account,
		       struct stackmap_error *error);
void store_account_clear(struct store_account *account);

#endif
