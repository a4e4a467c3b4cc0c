/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is read of an instance is written as into any file, but into memory, and read back from
 * there. So there is one way from rings to events, with all its joins and its ledger, and what is
 * shown of an instance is what a recording of it would show.
 */
#include "capture/live_recording.h"

#include <string.h>

#include "error.h"
#include "trace/write/memory_recording.h"

static int write_frozen(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error)
{
	struct trace_ledger ledger;
	int result = capture_begin(capture, writer, error);

	if (result)
		return result;
	result = capture_snapshot(capture);
	if (result)
		return error_set(error, -result, "snapshot: %s", strerror(-result));
	return capture_finish(capture, &ledger, error);
}

int live_recording_open(struct capture *capture, const struct trace_info *info, const char *name,
			struct trace_reader **out, struct stackmap_error *error)
{
	struct memory_recording recording;
	int result = memory_recording_begin(&recording, name, info, error);

	if (result)
		return result;
	result = capture_freeze(capture);
	if (result) {
		error_set(error, -result, "%s: %s", name, strerror(-result));
	} else {
		result = write_frozen(capture, recording.writer, error);
		capture_thaw(capture);
	}
	if (!result)
		return memory_recording_end(&recording, out, error);
	memory_recording_discard(&recording);
	return result;
}
