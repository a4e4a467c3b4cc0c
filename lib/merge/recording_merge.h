/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merges recordings: all their events, in the order of real time, with equal stacks once.
 *
 *    sources      one for each name, unit and set of extra values
 *    code         equal by build id: code_space.h
 *    threads      ids of another machine are moved: machine_list.h
 *    ledger       the sum; left out if one of the recordings has no ledger
 *    events       unchanged; with a summary among the recordings, the merged one is a summary
 */
#ifndef LIB_MERGE_RECORDING_MERGE_H
#define LIB_MERGE_RECORDING_MERGE_H

#include "trace/read/reader.h"

struct recording_merge_info {
	const char *command; /* command that the merged recording shows */
	const char *version;
};

/* Writes `path` as trace_writer_create() does; a failure leaves no file. If the events of a
 * recording are damaged, the damage is set in its reader (as for a truncated recording), and the
 * events before the damage are merged. */
int recording_merge(struct trace_reader *const *readers, u32 count, const char *path,
		    const struct recording_merge_info *info, struct stackmap_error *error);

/* Merges in memory; `name` stands for the path in messages. *out is untouched on failure. */
int recording_merge_in_memory(struct trace_reader *const *readers, u32 count, const char *name,
			      const struct recording_merge_info *info, struct trace_reader **out,
			      struct stackmap_error *error);

#endif
