/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The map `metadata` of an instance without a process: what its readers must know of it and none of
 * its programs does. One value, written when the instance starts:
 *
 *   struct metadata_header
 *   struct metadata_source, for each event kind
 *   text: the command line, then of each source its name and the unit of its values ("": it has
 *         none), each with its NUL
 */
#ifndef STACKMAP_ABI_METADATA_MAP_H
#define STACKMAP_ABI_METADATA_MAP_H

#include "scalar.h"

/* Of all that the pins of an instance hold: its maps as much as this value. Grows with every change
 * after which a reader would take an older or newer instance for something else. */
#define METADATA_VERSION 7

/* What a source is; numbers are never reused. */
enum source_type {
	/* Hits an arbitrary pc: -F (cycles where there is a PMU, cpu-clock where not), clocks,
	 * hardware counters. */
	SOURCE_SAMPLE = 0,
	SOURCE_PERF = 1,       /* any other perf event */
	SOURCE_TRACEPOINT = 2, /* raw tracepoint */
	SOURCE_SYSCALL = 3,    /* one system call's entry or exit */
	SOURCE_USER = 4,       /* uprobe */
	SOURCE_KERNEL = 5,     /* fentry or kprobe */
	SOURCE_OFF_CPU = 6,    /* a task was blocked; value: ns */
	SOURCE_WAKER = 7,      /* a task ends another one's waiting; value: ns */
};

struct metadata_header {
	u32 version;	     /* first in every version */
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
