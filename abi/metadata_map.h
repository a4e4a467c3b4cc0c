/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map `metadata` of an instance without a process: facts that readers need and programs do not.
 * The map has one value, written when the instance starts:
 *
 *   struct metadata_header
 *   struct metadata_source, for each event kind
 *   text: the command line, then for each source its name and the unit of its values ("": no
 *         values), each with its NUL
 */
#ifndef STACKMAP_ABI_METADATA_MAP_H
#define STACKMAP_ABI_METADATA_MAP_H

#include "scalar.h"

/*
 * The version of all pinned maps of an instance, this value included. The number grows with every
 * change after which a reader would misread an older or newer instance.
 */
#define METADATA_VERSION 10

/* The type of a source; numbers are never reused. */
enum source_type {
	/*
	 * Hits at any pc: -F (cycles if there is a PMU, else cpu-clock), clocks, hardware counters.
	 */
	SOURCE_SAMPLE = 0,
	SOURCE_PERF = 1,       /* any other perf event */
	SOURCE_TRACEPOINT = 2, /* raw tracepoint */
	SOURCE_SYSCALL = 3,    /* one system call's entry or exit */
	SOURCE_USER = 4,       /* uprobe */
	SOURCE_KERNEL = 5,     /* fentry or kprobe */
	SOURCE_OFF_CPU = 6,    /* a task was blocked; value: ns */
	SOURCE_WAKER = 7,      /* a task ends another task's wait; value: ns */
	SOURCE_TIME = 8,       /* a thread has waited; value: ns. Not in an instance */
	SOURCE_HOLDER = 9,  /* a thread holds what another one waits for at the end; value: ns. Not
			       in an instance */
	SOURCE_ORIGIN = 10, /* the queueing of what an event belongs to; value: ns. Not in an
			       instance */
};

struct metadata_header {
	u32 version;	     /* first member in every version */
	u32 address_shown;   /* 0: kptr_restrict hid kernel addresses */
	u64 start_realtime;  /* ns since the epoch at start_monotonic */
	u64 start_monotonic; /* ns */
	u32 sources;
	u32 text_bytes;
};
ABI_SIZE(struct metadata_header, 32);

struct metadata_source {
	u32 type; /* enum source_type */
	u32 reserved;
	u64 frequency; /* samples per second; 0: use the period */
	u64 period;    /* events per sample; 0: use the frequency */
};
ABI_SIZE(struct metadata_source, 24);

#endif
