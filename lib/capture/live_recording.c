/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A snapshot is written as to any file, but into memory that has no name (memfd), and read back
 * from there. So there is one way from rings to events, with all its joins and its ledger, and what
 * is shown of an instance is what a recording of it would show.
 */
#include "capture/live_recording.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"

static int write_frozen(struct capture *capture, struct trace_writer *writer,
			struct stackmap_error *error)
{
	struct trace_ledger ledger;
	int result = capture_begin(capture, writer, error);

	if (result)
		return result;
	result = capture_snapshot(capture, writer);
	if (result)
		return error_set(error, -result, "snapshot: %s", strerror(-result));
	return capture_finish(capture, writer, &ledger, error);
}

/* Takes `fd` in any case. */
static int write_recording(struct capture *capture, const struct trace_info *info, const char *name,
			   int fd, struct stackmap_error *error)
{
	struct trace_writer *writer;
	int result = trace_writer_create_fd(fd, name, info, &writer, error);

	if (result)
		return result;
	result = write_frozen(capture, writer, error);
	if (result) {
		trace_writer_discard(&writer);
		return result;
	}
	result = trace_writer_close(&writer);
	return result ? error_set(error, -result, "%s: %s", name, strerror(-result)) : 0;
}

static int freeze_and_write(struct capture *capture, const struct trace_info *info,
			    const char *name, int fd, struct stackmap_error *error)
{
	int copy = dup(fd), result;

	if (copy < 0)
		return error_set(error, errno, "%s: %s", name, strerror(errno));
	result = capture_freeze(capture);
	if (result) {
		close(copy);
		return error_set(error, -result, "%s: %s", name, strerror(-result));
	}
	result = write_recording(capture, info, name, copy, error);
	capture_thaw(capture);
	return result;
}

int live_recording_open(struct capture *capture, const struct trace_info *info, const char *name,
			struct trace_reader **out, struct stackmap_error *error)
{
	int fd = memfd_create("stackmap", MFD_CLOEXEC), result;

	if (fd < 0)
		return error_set(error, errno, "%s: %s", name, strerror(errno));
	result = freeze_and_write(capture, info, name, fd, error);
	if (!result)
		return trace_reader_open_fd(fd, name, out, error);
	close(fd);
	return result;
}
