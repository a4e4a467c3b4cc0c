/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a reader reads, as stackmap/recording.h has it. */
#ifndef LIB_RECORDING_PUBLIC_RECORDING_H
#define LIB_RECORDING_PUBLIC_RECORDING_H

#include "stackmap/recording.h"
#include "trace/read/reader.h"

/* The reader is the recording's, and is closed if there is none: -ENOMEM. */
int public_recording_create(struct trace_reader *reader, struct stackmap_recording **out,
			    struct stackmap_error *error);

#endif
