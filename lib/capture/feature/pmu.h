/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Performance monitoring units that the kernel numbers as they register: "kprobe", "uprobe". */
#ifndef LIB_CAPTURE_PMU_H
#define LIB_CAPTURE_PMU_H

/* perf_event_attr.type of a PMU, or -errno (-ENOENT: this kernel has none of that name). */
int pmu_type(const char *name);

#endif
