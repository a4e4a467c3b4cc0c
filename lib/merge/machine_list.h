/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machines of recordings. Two recordings are of one machine if they have the same host name and
 * boot time. After a reboot a machine counts as another machine, since its process ids have other
 * meanings.
 *
 * In a merged recording machine m > 0 has thread and process ids from m << 22 on (ids of the kernel
 * are below 1 << 22), ids of cgroups from m << 48 on (the kernel counts them), and CPUs after those
 * of the machines before it. Times are those of the clock of the machine that booted first, so no
 * time is negative.
 */
#ifndef LIB_MERGE_MACHINE_LIST_H
#define LIB_MERGE_MACHINE_LIST_H

#include "trace/read/reader.h"

#define MACHINE_TID_SHIFT 22
#define MACHINE_CGROUP_SHIFT 48

struct machine {
	const char *hostname;
	u64 booted; /* real time at which the monotonic clock was 0, ns */
	u32 cpus;
	u32 first_cpu;
};

struct machine_list {
	struct machine *machines;
	u32 count;
	u32 *machine_of; /* by recording: index of the recording's machine */
	u64 booted;	 /* earliest boot time of all machines, ns */
	u32 cpus;	 /* number of CPUs of all machines */
};

/* The readers must outlive the list. -ENOMEM, -E2BIG: too many machines or CPUs. */
int machine_list_create(struct machine_list *list, struct trace_reader *const *readers, u32 count);
void machine_list_free(struct machine_list *list);

/* The number of ns that is added to monotonic times of a recording. */
u64 machine_list_time_shift(const struct machine_list *list, const struct trace_reader *reader);

static inline u32 machine_first_tid(u32 machine)
{
	return machine << MACHINE_TID_SHIFT;
}

static inline u64 machine_first_cgroup_id(u32 machine)
{
	return (u64)machine << MACHINE_CGROUP_SHIFT;
}

#endif
