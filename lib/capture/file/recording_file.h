/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Begin, end and contents of one file of a recording. capture/capture.h describes the use of the
 * functions. */
#ifndef LIB_CAPTURE_RECORDING_FILE_H
#define LIB_CAPTURE_RECORDING_FILE_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"
#include "symbol/symbolizer/symbolizers.h"

/* Begins a file, of the frozen moment if the rings are frozen, and writes sources and kernel
 * modules. The writer must outlive the file. */
int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error);

/* Writes the contents of the rings, which keep them. The rings must be frozen, or those of a flight
 * recorder that is detached. */
int recording_snapshot(struct recording *recording);

/* For a drain, while events go on: before the end of a window, and at its end. */
int recording_ask_ahead(struct recording *recording, enum symbolizers_which which);
int recording_name_ahead(struct recording *recording, u32 others_ms, u32 own_ms, u32 longest_ms);
int recording_learn_names(struct recording *recording);
int recording_end_window(struct recording *recording);

/* Ends a file: writes the names and build ids of its frames, and the ledger. */
int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error);

#endif
