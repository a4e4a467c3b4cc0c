/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a drain instance as they come: window after window, each a recording in memory. A
 * window takes what it reads from the instance, whose one reader the caller is.
 */
#ifndef LIB_CAPTURE_LIVE_WINDOW_H
#define LIB_CAPTURE_LIVE_WINDOW_H

#include "capture/capture.h"
#include "trace/write/memory_recording.h"

struct live_window {
	struct capture *capture;
	struct memory_recording recording;
	u32 longest_ms; /* the longest wait for names when the window ends; 0: no limit */
};

/* The first of a capture, or the next after live_window_close(). */
int live_window_open(struct live_window *window, struct capture *capture,
		     const struct trace_info *info, const char *name, struct stackmap_error *error);

/* One visit to the rings. *next_ms as capture_drain() tells it, *events: of the window by now. */
int live_window_drain(struct live_window *window, int *next_ms, u64 *events);

/* All that there is by now, to be read. The window is gone in any case. */
int live_window_close(struct live_window *window, struct trace_reader **out,
		      struct stackmap_error *error);

/* What it has taken is lost. */
void live_window_discard(struct live_window *window);

#endif
