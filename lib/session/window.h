/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events as a recording in memory: a window of drained events, or a snapshot of what an instance
 * holds. Both are written in the form of a file and read back from memory. There is thus only one
 * way from rings to events, with all its joins and its ledger, and everything that reads recordings
 * can read instances.
 */
#ifndef LIB_SESSION_WINDOW_H
#define LIB_SESSION_WINDOW_H

#include "capture/capture.h"
#include "trace/write/memory_recording.h"

/*
 * All zero: the window is not open. A window removes what it reads from the rings; this process
 * must be their only reader.
 */
struct window {
	struct capture *capture;
	struct memory_recording recording;
};

/*
 * Opens the first window of a capture, or the next one after window_close_and_open_reader(). No
 * event is lost between two windows, and deferred stacks are kept for events that were written
 * late.
 */
int window_open(struct window *window, struct capture *capture, const struct trace_info *info,
		const char *name, struct stackmap_error *error);
bool window_is_open(const struct window *window);

/*
 * Ends the window now and opens it for reading. `longest_ms`: the longest wait for symbols; 0: no
 * limit. The window is closed even if this fails.
 */
int window_close_and_open_reader(struct window *window, u32 longest_ms, struct trace_reader **out,
				 struct stackmap_error *error);

/* Frees the window with its events. */
void window_discard(struct window *window);

/*
 * Copies the events that an instance holds now. The instance keeps its events and continues; the
 * reader does not need the capture. `name` is the name of the instance in messages.
 */
int window_snapshot(struct capture *capture, const struct trace_info *info, const char *name,
		    struct trace_reader **out, struct stackmap_error *error);

#endif
