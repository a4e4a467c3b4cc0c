/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How far a read of an instance's file has come (bpf/show/reading.h). User space makes the values
 * of the map large enough for all CPUs. */
#ifndef STACKMAP_ABI_FILE_READING_H
#define STACKMAP_ABI_FILE_READING_H

#include "ledger.h"
#include "rule.h"
#include "scalar.h"

/* How far a ring was read. */
struct ring_place {
	u64 position; /* first that is not done */
	u64 end;
	u64 done; /* of the positions from there on, one bit each */
	u64 next; /* what is shown next of this ring */
	u64 time; /* its */
};

struct reading {
	u64 session;	/* 0: free */
	u64 used;	/* when it went on last */
	u64 generation; /* of the map; 0: not looked at yet */
	u64 next;	/* what is shown next */
	u64 part;	/* of it: so many lines or bytes were shown */
	u64 is_begun;
	u64 is_whole; /* all was shown */
	u64 entries;
	u64 refs;
	u64 produced;
	u64 lost[LOST_COUNT];
	u64 walked; /* user stacks, as in struct scratch_counters */
	u64 table_steps;
	u64 mapping_walks;
	u64 deferred[STOP_COUNT];
	struct ring_place place[]; /* by CPU */
};
#define READING_BYTES(cpus) (sizeof(struct reading) + (u64)(cpus) * sizeof(struct ring_place))

#endif
