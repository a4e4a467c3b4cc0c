/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Access to the kernel's lists of event sources: tracefs, also if it is not mounted, and the PMUs
 * of sysfs. */
#ifndef LIB_CAPTURE_TRACEFS_H
#define LIB_CAPTURE_TRACEFS_H

/* Returns perf_event_attr.type of a PMU ("kprobe", "uprobe"), or -errno (-ENOENT: no such PMU). */
int read_perf_type_of_pmu(const char *name);

/* Returns a file descriptor of tracefs' directory `events`, which the caller closes; or -errno. */
int tracefs_open_events(void);

#endif
