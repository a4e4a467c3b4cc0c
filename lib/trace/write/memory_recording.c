/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writer and reader each have a descriptor of the memory, which is freed when both are closed. */
#include "trace/write/memory_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"

int memory_recording_begin(struct memory_recording *recording, const char *name,
			   const struct trace_info *info, struct stackmap_error *error)
{
	struct memory_recording begun = {.name = strdup(name)};
	int err, fd = -1;

	if (!begun.name)
		return error_set_errno(error, ENOMEM, name);
	begun.fd = memfd_create("stackmap", MFD_CLOEXEC);
	if (begun.fd >= 0)
		fd = dup(begun.fd);
	err = fd < 0 ? error_set_errno(error, errno, name)
		     : trace_writer_create_fd(fd, name, info, &begun.writer, error);
	if (err)
		memory_recording_discard(&begun);
	else
		*recording = begun;
	return err;
}

int memory_recording_end(struct memory_recording *recording, struct trace_reader **out,
			 struct stackmap_error *error)
{
	int err = trace_writer_close(&recording->writer), fd = recording->fd;

	if (err) {
		error_set_errno(error, -err, recording->name);
	} else {
		recording->fd = -1; /* the reader closes its descriptor in any case */
		err = trace_reader_open_fd(fd, recording->name, out, error);
	}
	memory_recording_discard(recording);
	return err;
}

void memory_recording_discard(struct memory_recording *recording)
{
	if (!recording->name)
		return;
	trace_writer_discard(&recording->writer);
	if (recording->fd >= 0)
		close(recording->fd);
	free(recording->name);
	*recording = (struct memory_recording){0};
}
