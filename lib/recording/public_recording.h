/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording in the form of stackmap/recording.h, made from a reader of the recording file. */
#ifndef LIB_RECORDING_PUBLIC_RECORDING_H
#define LIB_RECORDING_PUBLIC_RECORDING_H

#include "stackmap/recording.h"
#include "trace/event.h"
#include "trace/read/reader.h"

/* A ledger as programs get it (struct stackmap_ledger of stackmap/recording.h). */

struct public_ledger {
	/*
	 * the ledger, whose pointers point into the arrays below; each array ends with a zero
	 * element
	 */
	struct stackmap_ledger ledger;
	struct stackmap_count lost[LOST_COUNT + 1];
	struct stackmap_count without_kernel[REASON_COUNT + 1], without_user[REASON_COUNT + 1];
	struct stackmap_count user_ends[STOP_COUNT + 1];
	struct stackmap_count notes[NOTE_COUNT + 1];
};

void public_ledger_set(struct public_ledger *public, const struct trace_ledger *ledger);

/* Makes the recording from the reader, which it then owns. If this fails, the reader is closed.
 * -ENOMEM. */
int public_recording_create(struct trace_reader *reader, struct stackmap_recording **out,
			    struct stackmap_error *error);

#endif
