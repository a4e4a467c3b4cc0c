/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ledger, which accounts for all produced events, of one file or of the whole instance.
 *
 * The ledger of a file has the events that were read between two positions in the rings, and the
 * losses that no earlier file has reported. While BPF programs run, their count of produced events
 * cannot be read at exactly these positions, so the file's "produced" is the sum of its events and
 * losses. For the whole instance, when no program runs, this sum must equal the count of the
 * programs.
 */
#ifndef LIB_CAPTURE_FILE_LEDGER_H
#define LIB_CAPTURE_FILE_LEDGER_H

#include "trace/event.h"

struct loaded;
struct recording;
struct stack_ref;

/* Begins a file: stores the counts that earlier files have reported. */
void file_ledger_store_earlier_counts(struct recording *recording);

/* Counts a user stack that `events` events have, by its stop reason or the reason of its absence.
 */
void file_ledger_count_user_stack(struct recording *recording, const struct stack_ref *ref,
				  u64 events);

/* Sums up the ledger of the file that recording->writer has written, and the ledger of each CPU for
 * this file. */
void file_ledger_sum(const struct recording *recording, struct trace_ledger *ledger,
		     struct trace_cpu_ledger *cpus);

/* Adds to each source's counts the losses that are known to be of this source. Call before
 * file_ledger_sum(), whose sums then include all these losses. A recording with one source has no
 * counts by source.
 */
void file_ledger_add_losses_by_source(const struct recording *recording, u64 *lost);

/* Marks the losses and notes of a ledger, and the losses by source, as reported, for a reader that
 * consumes events: later files leave them out. */
void file_ledger_mark_as_reported(struct recording *recording, const struct trace_ledger *ledger,
				  const struct trace_cpu_ledger *cpus, const u64 *lost);

/* Sums up the ledger of the whole instance since its start. `recorded`: events that were read or
 * are in the rings. */
void sum_ledger_of_instance(const struct loaded *loaded, struct trace_ledger *totals);

#endif
