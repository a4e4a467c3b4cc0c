/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks of a ring's entries: reads the files that hold the stacks, and writes each stack to
 * the recording at its first use, after the mappings that its frames name.
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
 * The files that an instance has besides its ring: the stacks by id (stack_map_bin), and the
 * mappings of their frames (stack_map_mappings, or `mappings` in a copy of an instance of
 * stackmap). A kernel without stack ids has neither file.
 */
struct stack_files;

/* Reads the files of a folder. Returns 0, also if the files do not exist; or -errno if a file
 * cannot be read. */
int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error);
void stack_files_free(struct stack_files **files);

/* Returns the mappings of the folder; NULL: the folder has no file of mappings. */
const struct mappings *stack_files_mappings(const struct stack_files *files);

/* True if the addresses of kernel frames were hidden when the file was read. */
bool stack_files_lack_kernel_addresses(const struct stack_files *files);

/* Frames of a recording that stand for ftrace's trampolines, which have a marker instead of an
 * address in the ring, and for hidden addresses. No code is at these addresses. */
#define FTRACE_TRAMPOLINE_FRAME (1ULL << 63 | 0x7fffffff)
#define FTRACE_HIDDEN_FRAME (1ULL << 63)

/* True if a kernel address is in entry code: TEXT_ENTRY (abi/config.h). */
typedef bool ftrace_is_entry_code(void *arg, u64 address);

/* The state of writing stacks. All members but the first five are zero at the beginning. */
struct ftrace_stacks {
	struct trace_writer *writer;
	const struct stack_files *files;
	/* Tells whether an address is in entry code; NULL: not known. */
	ftrace_is_entry_code *is_entry_code;
	void *arg;		  /* argument of is_entry_code() */
	struct intern known_code; /* addresses whose code was looked up before, each a struct
				     known_code */
	u32 *by_file; /* by index of a stack in the files: the stack's index in the recording + 1;
			 0: not written yet */
	u32 by_file_room;
	u8 *is_mapped; /* by number of a mapping: 1 = the mapping was written */
	u32 mapped_room;
	u8 *is_cut; /* by index of a stack in the recording: 1 = the stack is truncated */
	u32 cut_room;
	u64 unknown_frames; /* number of user frames that have no mapping */
};

void ftrace_stacks_init(struct ftrace_stacks *stacks, struct trace_writer *writer,
			const struct stack_files *files, ftrace_is_entry_code *is_entry_code,
			void *arg);
void ftrace_stacks_free(struct ftrace_stacks *stacks);

/* Sets *index to the stack's index in the recording, or to TRACE_NO_STACK if the files have no
 * stack with this id. -ENOMEM, or the writer's error. */
int ftrace_stacks_find_or_write_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index);

/* Writes a stack that is in the ring in full, with addresses as frames. Sets *index to
 * TRACE_NO_STACK if the stack is empty. */
int ftrace_stacks_write_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
			      const u64 *addresses, u32 *index);

#endif
