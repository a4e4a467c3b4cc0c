/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/window.h"

#include <string.h>

#include "error.h"

/* Milliseconds to wait for symbols of other users' files: a user waits for the window. */
#define PATIENCE_MS 1000
/* Milliseconds to wait for symbols of files of root and of this user. */
#define PATIENCE_OWN_MS 2000

int window_open(struct window *window, struct capture *capture, const struct trace_info *info,
		const char *name, struct stackmap_error *error)
{
	struct window opened = {.capture = capture};
	int result = memory_recording_begin(&opened.recording, name, info, error);

	if (result)
		return result;
	result = capture_begin(capture, opened.recording.writer, error);
	if (result)
		window_discard(&opened);
	else
		*window = opened;
	return result;
}

bool window_is_open(const struct window *window)
{
	return window->recording.name;
}

int window_close_and_open_reader(struct window *window, u32 longest_ms, struct trace_reader **out,
				 struct stackmap_error *error)
{
	struct trace_ledger ledger;
	int result = capture_await_symbols_ahead(window->capture, PATIENCE_MS,
						 longest_ms ?: PATIENCE_OWN_MS, longest_ms);

	result = capture_end_window(window->capture) ?: result;
	if (result)
		error_set_errno(error, -result, window->recording.name);
	result = result ?: capture_finish(window->capture, &ledger, error);
	if (!result)
		return memory_recording_end(&window->recording, out, error);
	window_discard(window);
	return result;
}

void window_discard(struct window *window)
{
	memory_recording_discard(&window->recording);
}

int window_snapshot(struct capture *capture, const struct trace_info *info, const char *name,
		    struct trace_reader **out, struct stackmap_error *error)
{
	struct memory_recording recording;
	struct trace_ledger ledger;
	int result = memory_recording_begin(&recording, name, info, error);

	if (result)
		return result;
	result = capture_freeze(capture);
	if (result) {
		error_set_errno(error, -result, name);
	} else {
		result = capture_begin(capture, recording.writer, error);
		if (!result) {
			result = capture_snapshot(capture);
			result = result ? error_set(error, -result, "snapshot: %s",
						    strerror(-result))
					: capture_finish(capture, &ledger, error);
		}
		capture_thaw(capture);
	}
	if (!result)
		return memory_recording_end(&recording, out, error);
	memory_recording_discard(&recording);
	return result;
}
