/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CPUs that come online while a recording lasts. Only perf events need to know: one is bound to its
 * CPU, and ends for good when that goes offline. Programs at all other sources run on whatever CPU
 * there is, and each that can ever be has its rings.
 */
#ifndef LIB_CAPTURE_CPU_HOTPLUG_H
#define LIB_CAPTURE_CPU_HOTPLUG_H

#include "config.h"
#include "scalar.h"
#include "stackmap/error.h"

struct attachment;

#define CPU_MASK_WORDS (CONFIG_CPUS_MAX / 64)

/* By whoever attaches. All zero: not begun. */
struct cpu_hotplug {
	int list;		    /* the kernel's, open; 0: none, and no CPU is noticed */
	u64 online[CPU_MASK_WORDS]; /* at the last look */
	u64 next_poll;		    /* ns, CLOCK_MONOTONIC */
	u64 came;		    /* times that a CPU came online and has its events since */
	u64 unsampled;		    /* the same: its events were refused */
};

#define ONLINE_TEXT_BYTES 4096

/* The CPUs that are online, and as the kernel writes them. 0 or -errno: they are not known. */
int online_cpus_read(char text[ONLINE_TEXT_BYTES], u64 online[CPU_MASK_WORDS]);

/* Sets the bits of a list of CPUs like "0-3,8". -EINVAL: it is none; -ERANGE: a CPU of it is not
 * online; -ENOMEM. */
int online_cpus_choose(const char *list, u64 mask[CPU_MASK_WORDS], struct stackmap_error *error);

/* Before the first event is opened. */
void cpu_hotplug_begin(struct cpu_hotplug *hotplug);
void cpu_hotplug_end(struct cpu_hotplug *hotplug);

/* Opens the perf events of CPUs that came online since the last look. Reads the list of CPUs, ten
 * times a second at most. */
void cpu_hotplug_poll(struct attachment *attachment);

#endif
