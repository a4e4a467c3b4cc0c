/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "ftrace/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define TRAMPOLINE_MARKER 0x7fffffffULL /* FTRACE_TRAMPOLINE_MARKER of the kernel */

void ftrace_stacks_free(struct ftrace_stacks *stacks)
{
	hash_index_free(&stacks->by_id);
	intern_clear(&stacks->known_code);
	free(stacks->ids);
	free(stacks->is_mapped);
	free(stacks->is_cut);
	*stacks = (struct ftrace_stacks){};
}

static u32 mapping_kind(const char *path)
{
	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]"))
		return MAPPING_VDSO;
	return strcmp(path, "[anon]") ? MAPPING_FILE : MAPPING_ANON;
}

/* A number without a line in the file gets no mapping in the recording. */
static int write_mapping(struct ftrace_stacks *stacks, u32 number)
{
	const struct mappings *mappings = stack_files_mappings(stacks->files);
	const struct mapping_text *line = mappings ? mappings_find(mappings, number) : NULL;
	struct trace_mapping mapping = {.number = number};

	if (array_make_zeroed(stacks->is_mapped, number + 1UL, stacks->mapped_room))
		return -ENOMEM;
	if (stacks->is_mapped[number])
		return 0;
	stacks->is_mapped[number] = 1;
	if (!line)
		return 0;
	mapping.kind = mapping_kind(line->path);
	mapping.path = line->path;
	mapping.build_id_bytes = line->build_id_bytes;
	memcpy(mapping.build_id, line->build_id, line->build_id_bytes);
	return trace_writer_mapping(stacks->writer, &mapping);
}

static u64 frame_of(u64 frame)
{
	if (frame == TRAMPOLINE_MARKER)
		return FTRACE_TRAMPOLINE_FRAME;
	return frame >> FRAME_OFFSET_BITS ? frame : FTRACE_HIDDEN_FRAME;
}

/* 1, 0 or -ENOMEM. */
static int is_entry_code(struct ftrace_stacks *stacks, u64 frame)
{
	const struct intern_key key = {{frame}};
	struct known_code *known;

	if (!FRAME_IS_KERNEL(frame) || !stacks->entry_code.has)
		return 0;
	known = intern_entry(&stacks->known_code, &key);
	if (!known)
		return -ENOMEM;
	if (known->what == CODE_UNKNOWN)
		known->what = stacks->entry_code.has(stacks->entry_code.arg, frame) ? CODE_ENTRY
										    : CODE_OTHER;
	return known->what == CODE_ENTRY;
}

/* ftrace has the pc of interrupted kernel code; abi/stack.h defines such a frame as the pc + 1. */
static int mark_interrupted(struct ftrace_stacks *stacks, u64 *frames, const u64 *read, u32 depth)
{
	for (u32 i = 1; i < depth; i++) {
		int is_entry = FRAME_IS_KERNEL(frames[i]) ? is_entry_code(stacks, read[i - 1]) : 0;

		if (is_entry < 0)
			return is_entry;
		if (is_entry && frames[i] != FTRACE_HIDDEN_FRAME &&
		    frames[i] != FTRACE_TRAMPOLINE_FRAME && frames[i] != UINT64_MAX)
			frames[i] += FRAME_BEHIND_INTERRUPTED;
	}
	return 0;
}

static int write_stack(struct ftrace_stacks *stacks, const struct trace_stack *stack, u32 *index)
{
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack written = *stack;
	int err = 0;

	for (u32 i = 0; i < stack->depth && !err; i++) {
		frames[i] = frame_of(stack->frames[i]);
		if (!FRAME_IS_KERNEL(frames[i])) {
			written.flags |= STACK_USER;
			err = write_mapping(stacks, FRAME_MAPPING(frames[i]));
		}
	}
	written.frames = frames;
	err = err ?: mark_interrupted(stacks, frames, stack->frames, stack->depth);
	err = err ?: trace_writer_stack(stacks->writer, &written, index);
	err = err ?: array_make_zeroed(stacks->is_cut, *index + 1UL, stacks->cut_room);
	if (!err)
		stacks->is_cut[*index] = written.flags & STACK_TRUNCATED;
	return err;
}

static bool is_written(const void *ids, u32 index, const void *id)
{
	return ((const struct written_id *)ids)[index].id == *(const u32 *)id;
}

int ftrace_stacks_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index)
{
	u32 hash = hash_end(hash_word(0, id));
	u32 found = hash_index_find(&stacks->by_id, hash, is_written, stacks->ids, &id);
	struct trace_stack stack;

	if (found != HASH_INDEX_NONE) {
		*index = stacks->ids[found].index;
		return 0;
	}
	if (stack_files_find(stacks->files, id, &stack)) {
		int err = write_stack(stacks, &stack, index);

		if (err)
			return err;
		if (array_make_room(stacks->ids, stacks->id_count, stacks->id_room) ||
		    hash_index_add(&stacks->by_id, hash, stacks->id_count))
			return -ENOMEM;
		stacks->ids[stacks->id_count++] = (struct written_id){stack.id, *index};
		return 0;
	}
	*index = TRACE_NO_STACK;
	return 0;
}

int ftrace_stacks_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
			const u64 *addresses, u32 *index)
{
	u32 depth = entry->bytes / sizeof(*addresses);
	bool is_user = entry->what == FTRACE_USER_STACK, cut = depth > STACK_USER_DEPTH_MAX;
	u64 frames[STACK_USER_DEPTH_MAX];
	struct trace_stack stack = {
		.depth = cut ? STACK_USER_DEPTH_MAX : depth,
		.flags = cut ? STACK_TRUNCATED : 0,
		.frames = frames,
	};

	for (u32 i = 0; i < stack.depth; i++)
		if (is_user)
			frames[i] = FRAME_USER(MAPPING_UNKNOWN, addresses[i]);
		else
			frames[i] =
				(FRAME_IS_KERNEL(addresses[i]) || addresses[i] == TRAMPOLINE_MARKER)
					? addresses[i]
					: 0;
	if (is_user)
		stacks->unknown_frames += stack.depth;
	*index = TRACE_NO_STACK;
	return stack.depth ? write_stack(stacks, &stack, index) : 0;
}
