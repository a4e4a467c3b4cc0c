/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events as a recording in memory: a window of what is drained, or a snapshot of what an instance
 * holds. Both are written like a file and read back from memory, so there is one way from rings to
 * events, with all its joins and its ledger, and whatever reads recordings reads instances.
 */
#ifndef LIB_SESSION_WINDOW_H
#define LIB_SESSION_WINDOW_H

#include "capture/capture.h"
#include "trace/write/memory_recording.h"

/* All zero: not open. A window takes what it reads from the rings, whose one reader is this
 * process. */
struct window {
	struct capture *capture;
	struct memory_recording recording;
};

/* The first window of a capture, or the next after window_close(): no event is lost between two
 * windows, and deferred stacks are kept for events that were written late. */
int window_open(struct window *window, struct capture *capture, const struct trace_info *info,
		const char *name, struct stackmap_error *error);
bool window_is_open(const struct window *window);

/* Ends the window at this moment and opens it for reading. `longest_ms`: longest wait for names; 0:
 * no limit. The window is closed in any case. */
int window_close(struct window *window, u32 longest_ms, struct trace_reader **out,
		 struct stackmap_error *error);

/* Deletes the window with its events. */
void window_discard(struct window *window);

/* The events that an instance holds at this moment. The instance keeps its events and goes on
 * recording; the reader does not need the capture. `name` stands for the instance in messages. */
int window_snapshot(struct capture *capture, const struct trace_info *info, const char *name,
		    struct trace_reader **out, struct stackmap_error *error);

#endif
