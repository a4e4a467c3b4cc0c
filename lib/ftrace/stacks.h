/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of a ring: the files that hold them, and their way into a recording, each at its first
 * use, after the mappings that it names.
 */
#ifndef LIB_FTRACE_STACKS_H
#define LIB_FTRACE_STACKS_H

#include <stdbool.h>

#include "format/mappings_text.h"
#include "ftrace/entry.h"
#include "intern.h"
#include "stackmap/error.h"
#include "trace/event.h"
#include "trace/write/writer.h"

/*
 * The files of an instance beside its ring: the stacks by their ids (stack_map_bin), and the
 * mappings of their frames (stack_map_mappings, or mappings in a copy of an instance of stackmap).
 * A kernel without stack ids has neither file.
 */
struct stack_files;

/* Returns 0, also without the files; or -errno if a file cannot be read. */
int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error);
void stack_files_free(struct stack_files **files);

/* The mappings of the folder; NULL if the folder has no file of mappings. */
const struct mappings *stack_files_mappings(const struct stack_files *files);

/* True if kernel frames were hidden when the file was read. */
bool stack_files_hide_kernel(const struct stack_files *files);

/* Frames for ftrace's trampolines, which have a marker instead of an address, and for hidden
 * addresses. No code is at these addresses. */
#define FTRACE_TRAMPOLINE_FRAME (1ULL << 63 | 0x7fffffff)
#define FTRACE_HIDDEN_FRAME (1ULL << 63)

/* True if a kernel address lies in TEXT_ENTRY (abi/config.h). */
typedef bool ftrace_is_entry_code(void *arg, u64 address);

/* All members but the first five are zero at the beginning. */
struct ftrace_stacks {
	struct trace_writer *writer;
	const struct stack_files *files;
	ftrace_is_entry_code *is_entry_code; /* or NULL */
	void *arg;			     /* of is_entry_code() */
	struct intern known_code;	     /* by kernel address: struct known_code */
	u32 *by_file; /* by index in the files: index in the recording + 1; 0: not written yet */
	u32 by_file_room;
	u8 *is_mapped; /* by number: its line was written */
	u32 mapped_room;
	u8 *is_cut; /* by index in the recording */
	u32 cut_room;
	u64 unknown_frames; /* addresses of user code */
};

void ftrace_stacks_begin(struct ftrace_stacks *stacks, struct trace_writer *writer,
			 const struct stack_files *files, ftrace_is_entry_code *is_entry_code,
			 void *arg);
void ftrace_stacks_free(struct ftrace_stacks *stacks);

/* Sets *index to TRACE_NO_STACK if the files have no stack with this id. -ENOMEM, or the writer's
 * error. */
int ftrace_stacks_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index);

/* Writes a stack that is in the ring in full, with addresses as frames. Sets *index to
 * TRACE_NO_STACK if the stack is empty. */
int ftrace_stacks_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
			const u64 *addresses, u32 *index);

#endif
