/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds CPUs that come online during a recording. Only perf events need this: a perf event is bound
 * to its CPU, and ends when the CPU goes offline. Programs of all other sources run on any CPU, and
 * each possible CPU has rings.
 */
#ifndef LIB_CAPTURE_CPU_HOTPLUG_H
#define LIB_CAPTURE_CPU_HOTPLUG_H

#include "config.h"
#include "scalar.h"
#include "stackmap/error.h"

#define CPU_MASK_WORDS (CONFIG_CPUS_MAX / 64)

/* The state of the polling. All zero = not begun. */
struct cpu_hotplug {
	int list; /* descriptor of the kernel's list of online CPUs; 0 = not open */
	u64 online[CPU_MASK_WORDS]; /* CPUs that were online at the last poll */
	u64 next_poll;		    /* time of the next poll: CLOCK_MONOTONIC, ns */
	u64 came;      /* how many times a CPU came online and its perf events were opened */
	u64 unsampled; /* how many times a CPU came online and its perf events were refused */
};

#define ONLINE_TEXT_BYTES 4096

/* Reads the online CPUs, as the kernel's text and as bits. 0 or -errno. */
int online_cpus_read(char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS]);

/* Sets the bits of a list of CPUs like "0-3,8". -EINVAL: not a list; -ERANGE: a CPU is not online;
 * -ENOMEM. */
int online_cpus_parse_list(const char *list, u64 mask[CPU_MASK_WORDS],
			   struct stackmap_error *error);

/* Begin and end the polling. The polling begins before the first perf event is opened. */
void cpu_hotplug_begin(struct cpu_hotplug *hotplug);
void cpu_hotplug_end(struct cpu_hotplug *hotplug);

/* Calls add() for CPUs below `cpus` that came online since the last poll; -ENODEV: try again at the
 * next poll. Reads the list of CPUs at most ten times a second. */
void cpu_hotplug_poll(struct cpu_hotplug *hotplug, u32 cpus, int (*add)(void *arg, u32 cpu),
		      void *arg);

#endif
