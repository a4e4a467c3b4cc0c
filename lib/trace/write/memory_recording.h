/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording without a file: it is written into memory (memfd) and read back from there. */
#ifndef LIB_TRACE_MEMORY_RECORDING_H
#define LIB_TRACE_MEMORY_RECORDING_H

#include "trace/read/reader.h"
#include "trace/write/writer.h"

struct memory_recording {
	char *name; /* name of the recording in messages */
	int fd;
	struct trace_writer *writer;
};

int memory_recording_begin(struct memory_recording *recording, const char *name,
			   const struct trace_info *info, struct stackmap_error *error);

/* Closes the writer and opens the recording for reading. *recording is cleared in any case. */
int memory_recording_end(struct memory_recording *recording, struct trace_reader **out,
			 struct stackmap_error *error);

/* Frees a recording that was begun. A recording that was ended, or never begun (all zero), is not
 * changed. */
void memory_recording_discard(struct memory_recording *recording);

#endif
