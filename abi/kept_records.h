/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records of an instance without a process, which later readers take: its metadata, the names
 * of threads and cgroups, and the progress of reads of its files.
 *
 * The map `metadata` holds the facts that readers need and programs do not. The map has one value,
 * written when the instance starts:
 *
 *   struct metadata_header
 *   struct metadata_source, for each event kind
 *   text: the command line, then for each source its name and the unit of its values ("": no
 *         values), each with its NUL
 */
#ifndef STACKMAP_ABI_KEPT_RECORDS_H
#define STACKMAP_ABI_KEPT_RECORDS_H

#include "ledger.h"
#include "rule.h"
#include "scalar.h"

/*
 * The version of all pinned maps of an instance, this value included. The number grows with every
 * change after which a reader would misread an older or newer instance.
 */
#define METADATA_VERSION 15

/* The type of a source; numbers are never reused. */
enum source_type {
	/*
	 * events that may hit at any pc: samples of -F (cycles if there is a PMU, else cpu-clock),
	 * of clocks and of hardware counters
	 */
	SOURCE_SAMPLE = 0,
	SOURCE_PERF = 1,       /* a perf event of another type than those of SOURCE_SAMPLE */
	SOURCE_TRACEPOINT = 2, /* raw tracepoint */
	SOURCE_SYSCALL = 3,    /* one system call's entry or exit */
	SOURCE_USER = 4,       /* uprobe */
	SOURCE_KERNEL = 5,     /* fentry or kprobe */
	SOURCE_OFF_CPU = 6,    /* a task was blocked; value: length of the wait, ns */
	SOURCE_WAKER = 7,      /* a task ends another task's wait; value: length of the wait, ns */
	/* a thread has waited; value: length of the wait, ns. Not in an instance */
	SOURCE_TIME = 8,
	/*
	 * a thread holds what another thread waits for when recording ends; value: length of the
	 * wait so far, ns. Not in an instance
	 */
	SOURCE_HOLDER = 9,
	/*
	 * a work item, timer or request, to which another event belongs, was queued; value: time
	 * since then, ns. Not in an instance
	 */
	SOURCE_ORIGIN = 10,
};

struct metadata_header {
	u32 version;	     /* the version of the instance; the first member in every version */
	u32 address_shown;   /* 0: kptr_restrict hid kernel addresses */
	u64 start_realtime;  /* ns since the epoch at start_monotonic */
	u64 start_monotonic; /* CLOCK_MONOTONIC, ns: time that corresponds to start_realtime */
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

/*
 * Records that programs keep for later readers: names and cgroups of threads, and the paths of
 * cgroups that were made since the programs run.
 */

struct task_name {
	u8 comm[16];
	u64 cgroup; /* id of the thread's cgroup; 0: not known */
};
ABI_SIZE(struct task_name, 24);

#define CGROUP_PATH_BYTES 504
#define CGROUP_PATHS 512U /* number of cgroup paths that are kept: the latest ones */

struct cgroup_path {
	u64 id; /* id of the cgroup; 0: empty, or being written */
	char path[CGROUP_PATH_BYTES];
};
ABI_SIZE(struct cgroup_path, 512);

/*
 * The progress of a read of an instance's file (bpf/show/reading.h). User space makes the values of
 * the map large enough for all CPUs.
 */

/* The progress of a read in the ring of one CPU. */
struct ring_place {
	u64 position; /* first position that was not shown or skipped */
	u64 end;
	u64 done; /* positions from `position` on that were shown or skipped, one bit each */
	u64 next; /* position of the event of this ring that is shown next */
	u64 time; /* time of the event at `next` */
};

struct reading {
	u64 session; /* the kernel's number of the open file; 0: free */
	/* CLOCK_MONOTONIC, ns: time when the program was last called for this read */
	u64 used;
	u64 generation; /* generation of the stack map; 0: not yet chosen */
	/*
	 * number of the record that is shown next; file `trace`: a time that is later than all
	 * shown events
	 */
	u64 next;
	u64 part; /* number of lines or bytes of the record `next` that are shown already */
	u64 is_begun;
	u64 is_whole; /* 1: the whole file was shown */
	u64 entries;
	u64 refs;
	u64 produced;
	u64 counted; /* number of events that are counted only */
	u64 lost[LOST_COUNT];
	/*
	 * this member and the next ones: sums of the counters in struct scratch_counters over all
	 * scratch slots
	 */
	u64 walked;
	u64 table_steps;
	u64 mapping_walks;
	u64 script_joined;
	u64 script_unjoined;
	u64 script_unknown;
	u64 script_missed;
	u64 deferred[STOP_COUNT];
	struct ring_place place[]; /* index: CPU */
};
#define READING_BYTES(cpus) (sizeof(struct reading) + (u64)(cpus) * sizeof(struct ring_place))

#endif
