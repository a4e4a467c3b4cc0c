/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a live instance holds at this moment, as a recording that is nowhere but in memory: whatever
 * reads recordings reads instances.
 */
#ifndef LIB_CAPTURE_LIVE_RECORDING_H
#define LIB_CAPTURE_LIVE_RECORDING_H

#include "capture/capture.h"
#include "trace/read/reader.h"

/* Takes nothing from the instance, which goes on recording. `name` stands for it in messages. The
 * reader does not need the capture any more. */
int live_recording_open(struct capture *capture, const struct trace_info *info, const char *name,
			struct trace_reader **out, struct stackmap_error *error);

#endif
