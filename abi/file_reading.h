/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The progress of a read of an instance's file (bpf/show/reading.h). User space makes the values of
 * the map large enough for all CPUs.
 */
#ifndef STACKMAP_ABI_FILE_READING_H
#define STACKMAP_ABI_FILE_READING_H

#include "ledger.h"
#include "rule.h"
#include "scalar.h"

/* The progress in one ring. */
struct ring_place {
	u64 position; /* first position that is not done */
	u64 end;
	u64 done; /* positions beyond `position` that are done, one bit each */
	u64 next; /* position of the ring's next event to show */
	u64 time; /* time of that event */
};

struct reading {
	u64 session;	/* the kernel's number of the open file; 0: free */
	u64 used;	/* time of the last call, ns */
	u64 generation; /* generation of the stack map; 0: not yet chosen */
	u64 next;	/* the next record to show */
	u64 part;	/* lines or bytes of that record that are shown */
	u64 is_begun;
	u64 is_whole; /* 1: the whole file was shown */
	u64 entries;
	u64 refs;
	u64 produced;
	u64 counted; /* events that are counted only */
	u64 lost[LOST_COUNT];
	u64 walked; /* user stacks, as in struct scratch_counters */
	u64 table_steps;
	u64 mapping_walks;
	u64 script_joined;
	u64 script_unjoined;
	u64 script_unknown;
	u64 script_missed;
	u64 deferred[STOP_COUNT];
	struct ring_place place[]; /* by CPU */
};
#define READING_BYTES(cpus) (sizeof(struct reading) + (u64)(cpus) * sizeof(struct ring_place))

#endif
