/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many recordings into one: all their events, in the order of real time, with equal stacks once.
 *
 *   sources      one for each name, unit and kind of extra words
 *   code         the same by build id: code_space.h
 *   threads      of another machine have ids of their own: machine_list.h
 *   ledger       the sum; none if one of the recordings has none
 *   events       as they are; with a summary among the recordings, the merged one is a summary
 */
#ifndef LIB_MERGE_RECORDING_MERGE_H
#define LIB_MERGE_RECORDING_MERGE_H

#include "trace/read/reader.h"

struct recording_merge_info {
	const char *command; /* what the merged recording says of itself */
	const char *version;
};

/* Writes `path` as trace_writer_create() does; there is none on failure. Where the events of one
 * are damaged, that is said of its reader, as of one that is cut off, and all that came before goes
 * in. */
int recording_merge(struct trace_reader *const *readers, u32 count, const char *path,
		    const struct recording_merge_info *info, struct stackmap_error *error);

/* The same without a file; `name` stands for it in messages. *out is untouched on failure. */
int recording_merge_in_memory(struct trace_reader *const *readers, u32 count, const char *name,
			      const struct recording_merge_info *info, struct trace_reader **out,
			      struct stackmap_error *error);

#endif
