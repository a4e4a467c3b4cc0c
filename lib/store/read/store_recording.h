/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer of a store as a recording that is nowhere but in memory: whatever reads recordings
 * reads stores. Its events are summaries (trace_info.is_summary), one for each row of the answer;
 * its times are seconds since the epoch; its threads are names: one for each comm, and cgroup where
 * that was asked for. It has no CPUs and no processes.
 *
 * Its ledger is that of all hosts of the question in its time, whatever else the question leaves
 * out, as the ledger of a recording is that of all its events.
 */
#ifndef LIB_STORE_READ_STORE_RECORDING_H
#define LIB_STORE_READ_STORE_RECORDING_H

#include "intern.h"
#include "store/read/account.h"
#include "trace/read/reader.h"

struct store_recording_request {
	struct store_question question;
	const char *name;	 /* in messages */
	const char *description; /* of the question: what is shown as its command */
	const char *version;
	/* Names of events in the order of their kinds, to which new ones are added: so they stay
	 * the same over several questions. NULL: this one is alone. */
	struct text_set *events;
};

/* `account` is the caller's to clear, if this succeeds. A server that went away meanwhile is left
 * out (shards_away()). */
int store_recording_open(struct shards *shards, const struct store_recording_request *request,
			 struct store_account *account, struct trace_reader **reader,
			 struct stackmap_error *error);

#endif
