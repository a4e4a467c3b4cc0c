/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger of one file, or of the whole instance.
 *
 * A file has the events that readers took between two positions in the rings, and the losses that
 * no earlier file has reported. While programs run, their count of produced events cannot be read
 * at exactly these positions, so the file reports the sum of its events and losses instead. For the
 * whole instance, when no program runs, the count of the programs must be equal.
 */
#ifndef LIB_CAPTURE_FILE_LEDGER_H
#define LIB_CAPTURE_FILE_LEDGER_H

#include "trace/event.h"

struct loaded;
struct recording;
struct stack_ref;

/* Begins a file. */
void file_ledger_begin(struct recording *recording);

/* Counts the user stack of `events` events. */
void file_ledger_user_stack(struct recording *recording, const struct stack_ref *ref, u64 events);

/* Sums up the ledger of the file that recording->writer has written, and of each CPU. */
void file_ledger_sum(const struct recording *recording, struct trace_ledger *ledger,
		     struct trace_cpu_ledger *cpus);

/* Marks the losses of a ledger as reported, for a reader that consumes events. */
void file_ledger_reported(struct loaded *loaded, const struct trace_ledger *ledger,
			  const struct trace_cpu_ledger *cpus);

/* The ledger of the instance since its start; `recorded`: events that readers took or that are in
 * the rings. */
void ledger_totals(const struct loaded *loaded, struct trace_ledger *totals);

#endif
