/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The two ends of a file. */
#ifndef LIB_CAPTURE_FINISH_H
#define LIB_CAPTURE_FINISH_H

#include "capture/drain/recording.h"
#include "stackmap/error.h"

/* A file begins, of the frozen moment if there is one: sources, kernel modules. The writer must
 * outlive it. */
int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error);

/* Names and build ids of everything that went into the file, and the ledger. */
int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error);

#endif
