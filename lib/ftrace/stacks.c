/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory is proportional to the stacks in the file. Of two stacks with the same id, the first is
 * used. */
#include "ftrace/stacks.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "array.h"
#include "error.h"
#include "format/stack_map_bin_reader.h"
#include "hash_index.h"

struct stack_files {
	struct hash_index by_id;
	struct trace_stack *stacks;
	u32 count, room;
	struct arena frames;
	struct mappings *mappings;
	bool hides_kernel;
};

static u32 hash_id(u32 id)
{
	return hash_end(hash_word(0, id));
}

static bool has_same_id(const void *stacks, u32 index, const void *id)
{
	return ((const struct trace_stack *)stacks)[index].id == *(const u32 *)id;
}

/* Returns the index of the stack with this id, or HASH_INDEX_NONE. */
static u32 find_stack_index(const struct stack_files *files, u32 id)
{
	return hash_index_find(&files->by_id, hash_id(id), has_same_id, files->stacks, &id);
}

/* A stack that is deeper than the limit of the map is cut and marked as truncated. */
static int add_stack(void *arg, const struct stack_map_bin_stack *stack)
{
	bool cut = stack->depth > STACK_USER_DEPTH_MAX;
	struct stack_files *files = arg;
	struct trace_stack kept = {
		.id = stack->id,
		.generation = 1,
		.depth = cut ? STACK_USER_DEPTH_MAX : stack->depth,
		.flags = cut || stack->truncated ? STACK_TRUNCATED : 0,
	};
	u64 *frames;

	if (!kept.depth || !kept.id || find_stack_index(files, kept.id) != HASH_INDEX_NONE)
		return 0;
	frames = arena_alloc(&files->frames, kept.depth * sizeof(*frames));
	if (!frames || array_make_room(files->stacks, files->count, files->room) ||
	    hash_index_add(&files->by_id, hash_id(kept.id), files->count))
		return -ENOMEM;
	memcpy(frames, stack->frames, kept.depth * sizeof(*frames));
	for (u32 i = 0; i < kept.depth; i++)
		files->hides_kernel |= !frames[i];
	kept.frames = frames;
	files->stacks[files->count++] = kept;
	return 0;
}

static int read_stacks(FILE *from, struct stack_files *files, struct stackmap_error *error)
{
	int err = stack_map_bin_read(from, add_stack, files, error);

	return err == -ENOMEM ? error_set(error, ENOMEM, "not enough memory") : err;
}

static int read_mappings(FILE *from, struct stack_files *files, struct stackmap_error *error)
{
	return mappings_read(from, &files->mappings, error);
}

/* Reads a file of the instance. A missing file is not an error. The text of another error begins
 * with the file's name. */
static int read_instance_file(const char *folder, const char *name, struct stack_files *files,
			      int (*reader)(FILE *from, struct stack_files *files,
					    struct stackmap_error *error),
			      struct stackmap_error *error)
{
	struct stackmap_error inside = {};
	char path[PATH_MAX];
	FILE *from;
	int err;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	from = fopen(path, "re");
	if (!from)
		return errno == ENOENT ? 0 : error_set_errno(error, errno, path);
	err = reader(from, files, &inside);
	fclose(from);
	return err ? error_set(error, -err, "%s: %s", path, inside.message) : 0;
}

/* The kernel's file of mappings is stack_map_mappings. An instance of stackmap and `stackmap
 * export` have the same lines in a file mappings. */
int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error)
{
	struct stack_files *files = calloc(1, sizeof(*files));
	int err;

	if (!files)
		return error_set_errno(error, ENOMEM, folder);
	files->frames.limit = UINT64_MAX;
	err = read_instance_file(folder, "stack_map_bin", files, read_stacks, error)
		      ?: read_instance_file(folder, "stack_map_mappings", files, read_mappings,
					    error);
	if (!err && !files->mappings)
		err = read_instance_file(folder, "mappings", files, read_mappings, error);
	if (err)
		stack_files_free(&files);
	else
		*out = files;
	return err;
}

void stack_files_free(struct stack_files **files)
{
	if (!*files)
		return;
	hash_index_free(&(*files)->by_id);
	free((*files)->stacks);
	arena_free(&(*files)->frames);
	mappings_free(&(*files)->mappings);
	free(*files);
	*files = NULL;
}

const struct mappings *stack_files_mappings(const struct stack_files *files)
{
	return files->mappings;
}

bool stack_files_lack_kernel_addresses(const struct stack_files *files)
{
	return files->hides_kernel;
}

/* The kernel's FTRACE_TRAMPOLINE_MARKER, which stands for a trampoline. */
#define TRAMPOLINE_MARKER 0x7fffffffULL

struct known_code {
	struct intern_key key;
	enum { CODE_UNKNOWN, CODE_ENTRY, CODE_OTHER } what;
};

void ftrace_stacks_init(struct ftrace_stacks *stacks, struct trace_writer *writer,
			const struct stack_files *files, ftrace_is_entry_code *is_entry_code,
			void *arg)
{
	*stacks = (struct ftrace_stacks){writer, files, is_entry_code, arg,
					 INTERN(struct known_code)};
}

void ftrace_stacks_free(struct ftrace_stacks *stacks)
{
	intern_clear(&stacks->known_code);
	free(stacks->by_file);
	free(stacks->is_mapped);
	free(stacks->is_cut);
	*stacks = (struct ftrace_stacks){};
}

/* Writes a mapping to the recording, once. A number that the file of mappings does not list gets no
 * mapping in the recording. */
static int write_mapping(struct ftrace_stacks *stacks, u32 number)
{
	const struct mappings *mappings = stack_files_mappings(stacks->files);
	const struct trace_mapping *line = mappings ? mappings_find(mappings, number) : NULL;
	struct trace_mapping mapping;

	if (array_make_zeroed(stacks->is_mapped, number + 1UL, stacks->mapped_room))
		return -ENOMEM;
	if (stacks->is_mapped[number])
		return 0;
	stacks->is_mapped[number] = 1;
	if (!line)
		return 0;
	mapping = *line;
	if (!strcmp(line->path, "[vdso]") || !strcmp(line->path, "[vdso32]"))
		mapping.kind = MAPPING_VDSO;
	else
		mapping.kind = strcmp(line->path, "[anon]") ? MAPPING_FILE : MAPPING_ANON;
	return trace_writer_mapping(stacks->writer, &mapping);
}

/* Returns 1 if the frame is in entry code, 0 if it is not; -ENOMEM. */
static int is_entry_code(struct ftrace_stacks *stacks, u64 frame)
{
	const struct intern_key key = {{frame}};
	struct known_code *known;

	if (!FRAME_IS_KERNEL(frame) || !stacks->is_entry_code)
		return 0;
	known = intern_find_or_add_entry(&stacks->known_code, &key);
	if (!known)
		return -ENOMEM;
	if (known->what == CODE_UNKNOWN)
		known->what = stacks->is_entry_code(stacks->arg, frame) ? CODE_ENTRY : CODE_OTHER;
	return known->what == CODE_ENTRY;
}

/* Adds 1 to the frames of interrupted kernel code, since ftrace has the pc of such a frame, and
 * abi/stack.h defines it as the pc + 1. */
static int mark_interrupted_frames(struct ftrace_stacks *stacks, u64 *frames, const u64 *read,
				   u32 depth)
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
		u64 frame = stack->frames[i];

		if (frame == TRAMPOLINE_MARKER)
			frames[i] = FTRACE_TRAMPOLINE_FRAME;
		else
			frames[i] = frame >> FRAME_OFFSET_BITS ? frame : FTRACE_HIDDEN_FRAME;
		if (!FRAME_IS_KERNEL(frames[i])) {
			written.flags |= STACK_USER;
			err = write_mapping(stacks, FRAME_MAPPING(frames[i]));
		}
	}
	written.frames = frames;
	err = err ?: mark_interrupted_frames(stacks, frames, stack->frames, stack->depth);
	err = err ?: trace_writer_stack(stacks->writer, &written, index);
	err = err ?: array_make_zeroed(stacks->is_cut, *index + 1UL, stacks->cut_room);
	if (!err)
		stacks->is_cut[*index] = written.flags & STACK_TRUNCATED;
	return err;
}

int ftrace_stacks_find_or_write_by_id(struct ftrace_stacks *stacks, u32 id, u32 *index)
{
	u32 found = find_stack_index(stacks->files, id);
	int err;

	*index = TRACE_NO_STACK;
	if (found == HASH_INDEX_NONE)
		return 0;
	err = array_make_zeroed(stacks->by_file, found + 1UL, stacks->by_file_room);
	if (!err && !stacks->by_file[found]) {
		err = write_stack(stacks, &stacks->files->stacks[found], index);
		if (!err)
			stacks->by_file[found] = *index + 1;
	}
	if (!err)
		*index = stacks->by_file[found] - 1;
	return err;
}

int ftrace_stacks_write_whole(struct ftrace_stacks *stacks, const struct ftrace_entry *entry,
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
