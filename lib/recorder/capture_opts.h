/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program asks for, as a capture takes it. */
#ifndef LIB_RECORDER_CAPTURE_OPTS_H
#define LIB_RECORDER_CAPTURE_OPTS_H

#include "capture/load/cpu_hotplug.h"
#include "capture/load/options.h"
#include "stackmap/capture.h"

/* All zero: nothing is chosen. */
struct capture_target {
	struct source_list sources;
	u64 cpu_mask[CPU_MASK_WORDS];
	const char *comm;
	struct capture_options options; /* points into the rest, and at what the program gave */
};

/* The options of whatever version of the header, as this one has them. -EINVAL: no size; -E2BIG. */
int capture_opts_read(const struct stackmap_capture_opts *given, struct stackmap_capture_opts *opts,
		      struct stackmap_error *error);

/* capture_target_clear() in any case. The target is not moved. */
int capture_target_choose(const struct stackmap_capture_opts *opts, struct capture_target *target,
			  struct stackmap_error *error);
void capture_target_clear(struct capture_target *target);

#endif
