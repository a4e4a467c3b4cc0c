/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The answer of a store as a recording in memory, so that every command that reads recordings can
 * read a store. Each row of the answer becomes one event, which is a sum (trace_info.is_summary).
 * Times are seconds since the epoch. Each comm becomes a thread, or each pair of comm and cgroup if
 * cgroups were requested. The recording has no CPUs and no processes.
 *
 * The ledger covers all events of the question's hosts and time, even if the question selects
 * fewer, like the ledger of any recording.
 */
#ifndef LIB_STORE_READ_STORE_RECORDING_H
#define LIB_STORE_READ_STORE_RECORDING_H

#include "intern.h"
#include "store/read/account.h"
#include "trace/read/reader.h"

struct store_recording_request {
	struct store_question question;
	const char *name;	 /* name of the recording in messages */
	const char *description; /* description of the question, shown as the command */
	const char *version;
	/*
	 * Names of events, in the order of their kinds. Names that are new are added to this set,
	 * so an event has the same kind in several recordings. NULL: the recording has kinds of its
	 * own.
	 */
	struct text_set *events;
};

/*
 * The caller clears *account after success. A server that does not answer is left out
 * (reason_shard_is_missing()).
 */
int store_recording_open(struct shards *shards, const struct store_recording_request *request,
			 struct store_account *account, struct trace_reader **reader,
			 struct stackmap_error *error);

#endif
