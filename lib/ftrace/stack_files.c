/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory is proportional to the stacks in the file; the first of two stacks with one id counts. */
#include "ftrace/stack_files.h"

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

static u32 id_hash(u32 id)
{
	return hash_end(hash_word(0, id));
}

static bool is_id(const void *stacks, u32 index, const void *id)
{
	return ((const struct trace_stack *)stacks)[index].id == *(const u32 *)id;
}

static u32 find(const struct stack_files *files, u32 id)
{
	return hash_index_find(&files->by_id, id_hash(id), is_id, files->stacks, &id);
}

/* A stack that is deeper than the limit of the map is cut and marked as truncated. */
static struct trace_stack limited(const struct stack_map_bin_stack *stack)
{
	bool cut = stack->depth > STACK_USER_DEPTH_MAX;

	return (struct trace_stack){
		.id = stack->id,
		.generation = 1,
		.depth = cut ? STACK_USER_DEPTH_MAX : stack->depth,
		.flags = cut || stack->truncated ? STACK_TRUNCATED : 0,
	};
}

static int keep_stack(void *arg, const struct stack_map_bin_stack *stack)
{
	struct stack_files *files = arg;
	struct trace_stack kept = limited(stack);
	u64 *frames;

	if (!kept.depth || !kept.id || find(files, kept.id) != HASH_INDEX_NONE)
		return 0;
	frames = arena_alloc(&files->frames, kept.depth * sizeof(*frames));
	if (!frames || array_make_room(files->stacks, files->count, files->room) ||
	    hash_index_add(&files->by_id, id_hash(kept.id), files->count))
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
	int err = stack_map_bin_read(from, keep_stack, files, error);

	return err == -ENOMEM ? error_set(error, ENOMEM, "not enough memory") : err;
}

static int read_mappings(FILE *from, struct stack_files *files, struct stackmap_error *error)
{
	return mappings_read(from, &files->mappings, error);
}

/* A missing file is not an error. Other errors get the file's name. */
static int read_file(const char *folder, const char *name, struct stack_files *files,
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

/* The kernel's file is stack_map_mappings. An instance of stackmap and `stackmap export` have the
 * same lines in a file mappings. */
static int read_mappings_file(const char *folder, struct stack_files *files,
			      struct stackmap_error *error)
{
	int err = read_file(folder, "stack_map_mappings", files, read_mappings, error);

	if (err || files->mappings)
		return err;
	return read_file(folder, "mappings", files, read_mappings, error);
}

int stack_files_open(const char *folder, struct stack_files **out, struct stackmap_error *error)
{
	struct stack_files *files = calloc(1, sizeof(*files));
	int err;

	if (!files)
		return error_set_errno(error, ENOMEM, folder);
	files->frames.limit = UINT64_MAX;
	err = read_file(folder, "stack_map_bin", files, read_stacks, error)
		      ?: read_mappings_file(folder, files, error);
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

bool stack_files_find(const struct stack_files *files, u32 id, struct trace_stack *stack)
{
	u32 index = find(files, id);

	if (index == HASH_INDEX_NONE)
		return false;
	*stack = files->stacks[index];
	return true;
}

const struct mappings *stack_files_mappings(const struct stack_files *files)
{
	return files->mappings;
}

bool stack_files_hide_kernel(const struct stack_files *files)
{
	return files->hides_kernel;
}
