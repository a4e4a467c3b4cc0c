/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a recording says of itself: when, where and how it was made. */
#ifndef LIB_CAPTURE_RECORDING_INFO_H
#define LIB_CAPTURE_RECORDING_INFO_H

#include <sys/utsname.h>

#include "capture/capture.h"

struct recording_info {
	struct trace_info info;
	struct utsname kernel;
	char hostname[256];
};

/* One that begins now. `info` points into the struct, and at `command`. */
void recording_info_init(struct recording_info *info, struct capture *capture, u64 frequency,
			 const char *command);

#endif
