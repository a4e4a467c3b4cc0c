/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of events, of one file or of the instance as a whole.
 *
 * A file has a window: what readers took between two places in the rings, and the losses that no
 * earlier file has reported. As long as programs run, their own count of produced events cannot be
 * cut at those places, so the file reports the sum of its events and losses instead. The whole
 * instance at rest is where the programs' own count must agree.
 */
#ifndef LIB_CAPTURE_FILE_LEDGER_H
#define LIB_CAPTURE_FILE_LEDGER_H

#include "trace/event.h"

struct loaded;
struct recording;
struct stack_ref;

/* A file begins. */
void file_ledger_begin(struct recording *recording);

/* The user stack of so many events. */
void file_ledger_user_stack(struct recording *recording, const struct stack_ref *ref, u64 events);

/* Of what the file recorded (whole) and what was to be written into it but could not: its ledger,
 * and that of each CPU. */
void file_ledger_sum(const struct recording *recording, u64 recorded, u64 not_written,
		     struct trace_ledger *ledger, struct trace_cpu_ledger *cpus);

/* The ledger was reported: of a reader that takes what it reads. */
void file_ledger_reported(struct loaded *loaded, const struct trace_ledger *ledger,
			  const struct trace_cpu_ledger *cpus);

/* Of the instance since it began. `recorded` is what readers took and what the rings hold. */
void ledger_totals(const struct loaded *loaded, struct trace_ledger *totals);

#endif
