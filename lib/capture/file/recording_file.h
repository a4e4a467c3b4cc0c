/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One file of a recording: its two ends, and what goes into it at once. capture/capture.h says what
 * each is for. */
#ifndef LIB_CAPTURE_RECORDING_FILE_H
#define LIB_CAPTURE_RECORDING_FILE_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"
#include "symbol/symbolizer/symbolizers.h"

/* A file begins, of the frozen moment if there is one: sources, kernel modules. The writer must
 * outlive it. */
int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error);

/* Frozen, or flight and detached: writes what the rings hold; they keep it. */
int recording_snapshot(struct recording *recording);

/* Drain, events going on: before the window ends, and its end. */
int recording_ask_ahead(struct recording *recording, enum symbolizers_which which);
int recording_name_ahead(struct recording *recording, u32 others_ms, u32 own_ms, u32 longest_ms);
int recording_learn_names(struct recording *recording);
int recording_end_window(struct recording *recording);

/* Names and build ids of everything that went into the file, and the ledger. */
int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error);

#endif
