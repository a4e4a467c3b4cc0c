/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between two windows no event is lost: where one ends the next begins, and deferred stacks are
 * kept for events that were written late. */
#include "capture/live_window.h"

#include <string.h>

#include "error.h"

#define PATIENCE_MS 1000     /* for names of others' files: somebody looks at the window */
#define PATIENCE_OWN_MS 2000 /* for those of root's and our own */

int live_window_open(struct live_window *window, struct capture *capture,
		     const struct trace_info *info, const char *name, struct stackmap_error *error)
{
	struct live_window opened = {.capture = capture};
	int result = memory_recording_begin(&opened.recording, name, info, error);

	if (result)
		return result;
	result = capture_begin(capture, opened.recording.writer, error);
	if (result)
		live_window_discard(&opened);
	else
		*window = opened;
	return result;
}

int live_window_drain(struct live_window *window, int *next_ms, u64 *events)
{
	int result = capture_drain(window->capture, next_ms);

	*events = capture_events(window->capture);
	return result;
}

int live_window_close(struct live_window *window, struct trace_reader **out,
		      struct stackmap_error *error)
{
	struct trace_ledger ledger;
	int result = capture_name_ahead(window->capture, PATIENCE_MS,
					window->longest_ms ?: PATIENCE_OWN_MS, window->longest_ms);

	result = capture_end_window(window->capture) ?: result;
	if (result)
		error_set(error, -result, "%s: %s", window->recording.name, strerror(-result));
	result = result ?: capture_finish(window->capture, &ledger, error);
	if (!result)
		return memory_recording_end(&window->recording, out, error);
	live_window_discard(window);
	return result;
}

void live_window_discard(struct live_window *window)
{
	memory_recording_discard(&window->recording);
}
