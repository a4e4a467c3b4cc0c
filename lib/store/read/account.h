/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a store has what its hosts say they have sent. Each host tells for each window
 *
 *   produced = recorded + sum of lost
 *
 * and its rows of `events` should come to `recorded`. If they come to more, inserts were repeated
 * and are not merged yet: events are read with FINAL. If they come to less, events are missing,
 * which counts as one more cause of loss:
 *
 *   produced = (recorded - missing) + sum of lost + missing
 *
 * Asked first of all, for all events of the hosts, whichever the question is about: what is missing
 * cannot be told by service.
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
	u64 stored;   /* as the rows say, repeated ones included */
	u64 repeated; /* of these */
	u64 missing;
	u64 surplus;		/* stored, although the host counts them as lost */
	char *kernel, *machine; /* or NULL: not known */
	u32 cpus;
};

struct store_account {
	struct store_host *hosts;
	struct hash_index index; /* of the hosts */
	u32 count, room;
	u64 produced, recorded; /* `recorded` without what is missing */
	u64 lost[LOST_COUNT];
	u64 missing;
};

int store_account_read(struct shards *shards, const struct store_question *question,
		       const struct selection *selection, struct store_account *account,
		       struct stackmap_error *error);
void store_account_clear(struct store_account *account);

#endif
