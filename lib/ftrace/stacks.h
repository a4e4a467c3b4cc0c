/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the stacks of a ring to a recording, each at its first use, after the mappings that it
 * names. */
#ifndef LIB_FTRACE_STACKS_H
#define LIB_FTRACE_STACKS_H

#include "ftrace/entry.h"
#include "ftrace/stack_files.h"
#include "hash_index.h"
#include "intern.h"
#include "trace/write/writer.h"

/* Frames for ftrace's trampolines, which have a marker instead of an address, and for hidden
 * addresses. No code is at these addresses. */
#define FTRACE_TRAMPOLINE_FRAME (1ULL << 63 | 0x7fffffff)
#define FTRACE_HIDDEN_FRAME (1ULL << 63)

struct written_id {
	u32 id, index;
};

/* True if a kernel address lies in TEXT_ENTRY (abi/config.h). */
struct ftrace_entry_code {
	void *arg;
	bool (*has)(void *arg, u64 address);
};

struct known_code {
	struct intern_key key;
	enum { CODE_UNKNOWN, CODE_ENTRY, CODE_OTHER } what;
};

/* All members but the first four are zero at the beginning. */
struct ftrace_stacks {
	struct trace_writer *writer;
	const struct stack_files *files;
	struct ftrace_entry_code entry_code;
	struct intern known_code; /* by kernel address: results of `entry_code` */
	struct hash_index by_id;
	struct written_id *ids;
	u32 id_count, id_room;
	u8 *is_mapped; /* by number: its line was written */
	u32 mapped_room;
	u8 *is_cut; /* by index in the recording */
	u32 cut_room;
	u64 unknown_frames; /* addresses of user code */
};

void ftrace_stacks_free(struct ftrace_stacks *stacks);

/* Sets *index to TRACE_NO_STACK if the files have no stack with this id. -ENOMEM, or the writer's
 * error. */
int ftrace_stacks_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index);

/* Writes a stack that is in the ring in full, with addresses as frames. Sets *index to
 * TRACE_NO_STACK if the stack is empty. */
int ftrace_stacks_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
			const u64 *addresses, u32 *index);

#endif
