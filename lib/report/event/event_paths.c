/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A path is found by the pair (stack, leaf). The path of a pair is made once, and pairs with equal
 * labels share one path. The key of a leaf is the id of its list of labels. A hash table finds the
 * key by the sampled pc, so a pc that repeats is symbolized once. A stack without a leaf finds its
 * path in an array, by the stack index.
 */
#include "event_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "hash_index.h"

#define FOLDED_MAX 8 /* the most labels of a sequence that is folded */
/* bytes that a path or leaf takes besides its struct: array slot, hash index and allocator overhead
 */
#define ENTRY_BYTES 48

struct join {
	u32 stack; /* stack index, or TRACE_NO_STACK */
	u32 reason;
	u32 leaf; /* id of the leaf's list of labels, or PATH_NO_LEAF */
	const struct profile_path *path;
};

struct leaf {
	u64 frame;
	u32 chain;
};

struct event_paths {
	struct trace_reader *reader;
	struct frame_names *names;
	const struct trace_stack *stacks;
	/* Paths without a leaf, by stack index; NULL: not made yet. */
	const struct profile_path **by_stack;
	struct hash_index join_index, leaf_index, path_index;
	struct join *joins;
	struct leaf *leaves;
	struct profile_path **paths;
	u32 *labels; /* labels of the path under construction */
	u32 join_room, leaf_room, path_room, label_room, label_count;
};

static bool is_same_stack_and_leaf(const void *joins, u32 index, const void *key)
{
	const struct join *join = &((const struct join *)joins)[index], *wanted = key;

	return join->stack == wanted->stack && join->leaf == wanted->leaf &&
	       join->reason == wanted->reason;
}

static bool is_same_leaf(const void *leaves, u32 index, const void *frame)
{
	return ((const struct leaf *)leaves)[index].frame == *(const u64 *)frame;
}

static bool is_same_profile_path(const void *paths, u32 index, const void *key)
{
	const struct profile_path *path = ((struct profile_path *const *)paths)[index];
	const struct profile_path *wanted = key;

	return path->depth == wanted->depth && path->end == wanted->end &&
	       memcmp(path->labels, wanted->labels, path->depth * sizeof(u32)) == 0;
}

/* Drops the last labels if they repeat the labels before them. */
static void fold_repeated_labels(struct event_paths *paths)
{
	for (u32 run = 1; run <= FOLDED_MAX && 2 * run <= paths->label_count; run++) {
		const u32 *last = paths->labels + paths->label_count - run;

		if (memcmp(last, last - run, run * sizeof(*last)) == 0) {
			paths->label_count -= run;
			return;
		}
	}
}

static int append_label_list(struct event_paths *paths, u32 chain)
{
	u32 count;
	const u32 *labels = frame_names_labels_of_chain(paths->names, chain, &count);

	for (u32 i = 0; i < count; i++) {
		if (array_make_room(paths->labels, paths->label_count, paths->label_room))
			return -ENOMEM;
		paths->labels[paths->label_count++] = labels[i];
		if (frame_names_naming(paths->names)->fold_recursion)
			fold_repeated_labels(paths);
	}
	return 0;
}

/* A path with the labels of leaf and stack. A frame has one label for each function inlined there
 * and one for the function itself. NULL without memory. */
static struct profile_path *create_path(struct event_paths *paths, const struct join *join)
{
	const struct trace_stack *stack =
		join->stack == TRACE_NO_STACK ? NULL : &paths->stacks[join->stack];
	bool has_leaf = join->leaf != PATH_NO_LEAF;
	struct profile_path *path;
	size_t bytes;
	int err;

	paths->label_count = 0;
	err = has_leaf ? append_label_list(paths, join->leaf) : 0;
	for (u32 i = 0; stack && i < stack->depth && !err; i++) {
		const struct frame_name *name =
			frame_names_find(paths->names, stack->frames[i], i || has_leaf);

		err = name ? append_label_list(paths, name->chain) : -ENOMEM;
	}
	if (err)
		return NULL;
	bytes = paths->label_count * sizeof(u32);
	path = calloc(1, sizeof(*path) + bytes);
	if (!path)
		return NULL;
	path->depth = paths->label_count;
	path->end = stack_end_of(stack, join->reason);
	if (bytes)
		memcpy(path->labels, paths->labels, bytes);
	return path;
}

static const struct profile_path *intern_path(struct event_paths *paths, const struct join *join)
{
	struct profile_path *path = create_path(paths, join);
	u32 hash, index;
	u64 bytes, word;

	if (!path)
		return NULL;
	word = hash_word(0, (u64)(uintptr_t)path->end);
	for (u32 i = 0; i < path->depth; i++)
		word = hash_word(word, path->labels[i]);
	hash = hash_end(word);
	index = hash_index_find(&paths->path_index, hash, is_same_profile_path, paths->paths, path);
	if (index != HASH_INDEX_NONE) {
		free(path);
		return paths->paths[index];
	}
	path->id = paths->path_index.count;
	bytes = sizeof(*path) + path->depth * sizeof(u32) + ENTRY_BYTES;
	if (trace_reader_count_memory(paths->reader, bytes) ||
	    array_make_room(paths->paths, path->id, paths->path_room) ||
	    hash_index_add(&paths->path_index, hash, path->id)) {
		free(path);
		return NULL;
	}
	paths->paths[path->id] = path;
	return path;
}

static const struct profile_path *find_path_of_stack_and_leaf(struct event_paths *paths,
							      const struct join *key)
{
	u64 word = hash_word(0, (u64)key->stack << 32 | key->leaf);
	u32 hash = hash_end(hash_word(word, key->reason));
	u32 index = hash_index_find(&paths->join_index, hash, is_same_stack_and_leaf, paths->joins,
				    key);
	struct join join = *key;

	if (index != HASH_INDEX_NONE)
		return paths->joins[index].path;
	index = paths->join_index.count;
	join.path = intern_path(paths, key);
	if (!join.path || trace_reader_count_memory(paths->reader, sizeof(join) + ENTRY_BYTES) ||
	    array_make_room(paths->joins, index, paths->join_room) ||
	    hash_index_add(&paths->join_index, hash, index))
		return NULL;
	paths->joins[index] = join;
	return join.path;
}

const struct profile_path *event_paths_find(struct event_paths *paths, u32 stack, u8 reason,
					    u32 leaf)
{
	struct join key = {.stack = stack, .leaf = leaf};

	if (stack == TRACE_NO_STACK)
		key.reason = reason;
	if (stack == TRACE_NO_STACK || leaf != PATH_NO_LEAF)
		return find_path_of_stack_and_leaf(paths, &key);
	if (!paths->by_stack[stack])
		paths->by_stack[stack] = intern_path(paths, &key);
	return paths->by_stack[stack];
}

const struct profile_path *event_paths_by_id(const struct event_paths *paths, u32 id)
{
	return paths->paths[id];
}

static u32 hash_leaf(u64 frame)
{
	return hash_end(hash_word(0, frame));
}

void event_paths_prefetch_leaf(const struct event_paths *paths, u64 frame)
{
	hash_index_prefetch_slot(&paths->leaf_index, hash_leaf(frame));
}

u32 event_paths_leaf_key(struct event_paths *paths, u64 frame)
{
	u32 hash = hash_leaf(frame);
	u32 index = hash_index_find(&paths->leaf_index, hash, is_same_leaf, paths->leaves, &frame);
	const struct frame_name *name;

	if (index != HASH_INDEX_NONE)
		return paths->leaves[index].chain;
	name = frame_names_find(paths->names, frame, false);
	index = paths->leaf_index.count;
	if (!name || array_make_room(paths->leaves, index, paths->leaf_room) ||
	    hash_index_add(&paths->leaf_index, hash, index))
		return PATH_NO_LEAF;
	paths->leaves[index] = (struct leaf){.frame = frame, .chain = name->chain};
	return name->chain;
}

int event_paths_create(struct trace_reader *reader, struct frame_names *names,
		       struct event_paths **out)
{
	struct event_paths *paths = calloc(1, sizeof(*paths));
	u32 stacks;

	if (!paths)
		return -ENOMEM;
	paths->reader = reader;
	paths->names = names;
	stacks = trace_reader_stacks(reader, &paths->stacks);
	paths->by_stack = calloc(stacks + 1UL, sizeof(struct profile_path *));
	if (!paths->by_stack) {
		free(paths);
		return -ENOMEM;
	}
	*out = paths;
	return 0;
}

void event_paths_free(struct event_paths **paths)
{
	struct event_paths *old = *paths;

	if (!old)
		return;
	for (u32 i = 0; i < old->path_index.count; i++)
		free(old->paths[i]);
	hash_index_free(&old->join_index);
	hash_index_free(&old->leaf_index);
	hash_index_free(&old->path_index);
	free(old->paths);
	free(old->joins);
	free(old->leaves);
	free(old->labels);
	free(old->by_stack);
	free(old);
	*paths = NULL;
}
