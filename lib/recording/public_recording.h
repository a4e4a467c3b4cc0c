/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording of stackmap/recording.h, made from a reader. */
#ifndef LIB_RECORDING_PUBLIC_RECORDING_H
#define LIB_RECORDING_PUBLIC_RECORDING_H

#include "stackmap/recording.h"
#include "trace/read/reader.h"

/* The recording owns the reader, which is closed on failure. -ENOMEM. */
int public_recording_create(struct trace_reader *reader, struct stackmap_recording **out,
			    struct stackmap_error *error);

#endif
