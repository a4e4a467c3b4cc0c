/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writing one recording file: begin, events, end. capture/capture.h describes the use of the
 * functions. */
#ifndef LIB_CAPTURE_RECORDING_FILE_H
#define LIB_CAPTURE_RECORDING_FILE_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"
#include "symbol/symbolizer/symbolizers.h"

/* Begins a file, and writes sources and kernel modules. If the rings are frozen (loaded_freeze()),
 * the file shows the frozen moment. The writer must outlive the file. */
int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error);

/* Writes the events of the rings, and leaves them in the rings. The rings must be frozen, or belong
 * to a flight recorder that is detached. */
int recording_snapshot(struct recording *recording);

/* For a drain, while events go on: the first three functions request symbols before the end of a
 * window, the last one ends the window. */
int recording_request_symbols_ahead(struct recording *recording, enum symbolizers_which which);
int recording_await_symbols_ahead(struct recording *recording, u32 others_ms, u32 own_ms,
				  u32 longest_ms);
int recording_request_symbols_now_and_then(struct recording *recording);
int recording_end_window(struct recording *recording);

/* Ends a file: writes the symbols and build ids of its frames, and the ledger. */
int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error);

#endif
