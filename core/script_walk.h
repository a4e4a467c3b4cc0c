/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces the native frames of interpreters' loops by the frames of the script (abi/script.h). The
 * memory of the task is read frame by frame and may hold anything: each loop either has all its
 * frames, and each of them has a code object by its type or by its instructions, or stays native.
 *
 * The embedder supplies four functions: natively by linking them, in BPF by defining them before it
 * includes script_walk.c.
 */
#ifndef CORE_SCRIPT_WALK_H
#define CORE_SCRIPT_WALK_H

#include <stdbool.h>

#include "env.h"
#include "script.h"
#include "stack.h"

struct script {
	struct script_walk *walk;
	const struct script_marks *marks;
	const struct script_cache *cache;
	const struct stack *native;
	struct stack *stack; /* receives the resulting frames, depth and flags */
	void *memory; /* for the functions that the embedder defines; the walk does not use it */
};

/* Defined by the embedder: reads memory of the task, all bytes or none. */
CORE_INLINE bool script_read(u64 address, void *buffer, u32 bytes);

/* Defined by the embedder: the layout for a mapping number; NULL: none is known. */
CORE_INLINE const struct script_layout *script_layout_of(struct script *script, u32 number);

/* Defined by the embedder: the task's thread pointer. */
CORE_INLINE u64 script_thread_pointer(void);

/* Defined by the embedder: the id of the code object walk->code, for which the cache has no id; 0:
 * the code object gets no id. */
CORE_INLINE u64 script_find_or_add_id(struct script *script);

/*
 * Looks up the id of the function whose code object is in walk->code_word; 0: not in the cache. Any
 * context.
 */
CORE_GLOBAL int script_find_cached_id_of_code(struct script_walk *walk,
					      const struct script_cache *cache);

/* Looks up the id of a function by its cache key; 0: not in the cache. Any context. */
CORE_INLINE u32 script_find_cached_id_of_key(const struct script_cache *cache, u64 key);

/*
 * The cache key of a function that is known by the hash of its name and file; walk->seed is a part
 * of that hash.
 */
CORE_INLINE u64 script_key_of_text_hash(const struct script_walk *walk, u64 hash);

/*
 * Finds the characters of the string object at `address`, as walk->layout says. 0: unreadable, or
 * of no kind that is known. Any context.
 */
CORE_GLOBAL int script_find_text_of_runtime(struct script_walk *walk, u64 address);

/* Stores the id of the code object whose hash is `key`. Any context. */
CORE_INLINE void script_cache_put(struct script_cache *cache, u64 key, u64 id);

/* False: the walk's process has its share of the ids, and gets no new one. Any context. */
CORE_INLINE bool script_is_within_quota(struct script_cache *cache, const struct script_walk *walk,
					u32 ids_left);

/*
 * Counts a new id of the walk's process, after script_is_within_quota() and once the id is given.
 * Any context.
 */
CORE_INLINE void script_count_id_against_quota(struct script_cache *cache,
					       const struct script_walk *walk);

/*
 * Walks over script->native. True: script->stack is the stack with the script's frames. False: the
 * native stack stays as it is, because it has no marks, or too many frames.
 */
CORE_INLINE bool script_walk(struct script *script);

#endif
