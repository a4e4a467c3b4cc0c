/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks of a ring into the writer of a recording, each when it is met first, behind the mappings
 * that it names. */
#ifndef LIB_FTRACE_STACKS_H
#define LIB_FTRACE_STACKS_H

#include "ftrace/entry.h"
#include "ftrace/stack_files.h"
#include "hash_index.h"
#include "intern.h"
#include "trace/write/writer.h"

/* What stands for an address that is none: the marker of ftrace's own trampolines, or one that was
 * hidden. No code is there. */
#define FTRACE_TRAMPOLINE_FRAME (1ULL << 63 | 0x7fffffff)
#define FTRACE_HIDDEN_FRAME (1ULL << 63)

struct written_id {
	u32 id, index;
};

/* Says whether an address of the kernel lies in TEXT_ENTRY (abi/kernel_text.h). */
struct ftrace_entry_code {
	void *arg;
	bool (*has)(void *arg, u64 address);
};

struct known_code {
	struct intern_key key;
	enum { CODE_UNKNOWN, CODE_ENTRY, CODE_OTHER } what;
};

/* Zero but for the first four: nothing is written. */
struct ftrace_stacks {
	struct trace_writer *writer;
	const struct stack_files *files;
	struct ftrace_entry_code entry_code;
	struct intern known_code; /* by address of the kernel: what `entry_code` has said */
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

/* *index TRACE_NO_STACK: the id is none of the files' stacks. -ENOMEM, or the writer's error. */
int ftrace_stacks_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index);

/* One that is in the ring as a whole, with addresses for frames. *index TRACE_NO_STACK: it has
 * none. */
int ftrace_stacks_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
			const u64 *addresses, u32 *index);

#endif
