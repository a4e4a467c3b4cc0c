/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One loop with a bound takes all steps: it copies a native frame, enters a loop's frames, or adds
 * one of them. Frames of a loop are added as they are met. If a later one fails, all are dropped
 * again, and the native frame is added in their place.
 */
#include "script_walk.h"
#include "deep_stack.h"

#define FRAME_WORDS_MASK 15
#define CODE_WORDS_MASK 31

_Static_assert(SCRIPT_FRAME_WORDS <= FRAME_WORDS_MASK + 1, "a mask bounds an index");
_Static_assert(SCRIPT_CODE_WORDS <= CODE_WORDS_MASK + 1, "a mask bounds an index");

/* Odd numbers with half of the bits set, as in unwind/cached_rule.c. */
#define KEY_WORD 0x9e3779b97f4a7c15ULL
#define SEAL_ID 0xbf58476d1ce4e5b9ULL

CORE_PART u64 script_hash_add(u64 hash, u64 word, u64 factor)
{
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 29;
}

CORE_PART u64 script_code_word(const struct script_walk *walk, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return walk->code_word[index & CODE_WORDS_MASK];
}

CORE_PART u64 script_frame_word(const struct script_walk *walk, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return walk->frame_word[index & FRAME_WORDS_MASK];
}

/* The key of the code object that was read: whose it is, where it lies, and which function it is.
 */
CORE_PART u64 script_code_key(const struct script_walk *walk)
{
	const struct script_layout *layout = &walk->layout;
	u64 hash = script_hash_add(walk->seed, walk->space.mm, KEY_WORD);

	hash = script_hash_add(hash, walk->space.process, KEY_WORD);
	hash = script_hash_add(hash, (u64)walk->space.execs << 32 | layout->version, KEY_WORD);
	hash = script_hash_add(hash, walk->code, KEY_WORD);
	hash = script_hash_add(hash, script_code_word(walk, layout->code_name), KEY_WORD);
	hash = script_hash_add(hash, script_code_word(walk, layout->code_file), KEY_WORD);
	hash = script_hash_add(hash, script_code_word(walk, layout->code_lines), KEY_WORD);
	hash = script_hash_add(hash, script_code_word(walk, layout->first_line), KEY_WORD);
	return script_hash_add(
		hash, layout->code_number ? script_code_word(walk, layout->code_number) : 0,
		KEY_WORD);
}

CORE_PART u64 script_id_seal(u64 key, u64 id)
{
	return script_hash_add(script_hash_add(key, id, SEAL_ID), key, KEY_WORD);
}

CORE_GLOBAL int script_cache_get(struct script_walk *walk, const struct script_cache *cache)
{
	const struct cached_script *entry;
	u64 id, seal;

	if (core_is_null(walk) || core_is_null(cache))
		return 0;
	walk->key = script_code_key(walk);
	entry = &cache->entry[walk->key >> (64 - SCRIPT_CACHE_BITS)];
	id = atomic_load_relaxed(&entry->id);
	seal = atomic_load_relaxed(&entry->seal);
	return seal && seal == script_id_seal(walk->key, id) ? id : 0;
}

CORE_INLINE void script_cache_put(struct script_cache *cache, u64 key, u64 id)
{
	struct cached_script *entry = &cache->entry[key >> (64 - SCRIPT_CACHE_BITS)];

	atomic_store_relaxed(&entry->seal, script_id_seal(key, id));
	atomic_store_relaxed(&entry->id, id);
}

/* --- frames --- */

/* The word of frame `number`. The leaf that is kept apart has the last word, as in direct_walk().
 */
CORE_PART u32 script_stack_slot(const struct script_walk *walk, u32 number)
{
	u32 index = number - walk->leaf_apart;

	return number ? deep_stack_slot(index) : index;
}

CORE_PART void script_frame_add(struct script *script, u64 frame)
{
	struct script_walk *walk = script->walk;
	u32 slot = script_stack_slot(walk, walk->depth);

	core_one_register(slot);
	script->stack->word[slot & (STACK_WORDS_MAX - 1)] = frame;
	walk->depth++;
}

/* Adds the native frame at walk->at, and goes on to the next one. */
CORE_PART void script_native_add(struct script *script)
{
	struct script_walk *walk = script->walk;
	u32 slot = script_stack_slot(walk, walk->at);

	core_one_register(slot);
	script_frame_add(script, script->native->word[slot & (STACK_WORDS_MAX - 1)]);
	walk->at++;
}

/*
 * Begins the frames of a loop: sets walk->frame to the innermost one. 0: the layout is not known,
 * or the word is unreadable.
 */
CORE_PART u64 script_loop_enter(struct script *script, const struct script_mark *mark)
{
	struct script_walk *walk = script->walk;
	const struct script_layout *layout = script_layout_of(script, FRAME_MAPPING(mark->place));

	walk->frame = 0;
	walk->start = walk->depth;
	if (!layout)
		return 0;
	walk->layout = *layout;
	walk->type = mark->pc - (FRAME_OFFSET(mark->place) - walk->layout.loop) + walk->layout.type;
	if (!script_read(mark->cfa - walk->layout.link, &walk->frame, 8))
		walk->frame = 0;
	return core_reload(walk->frame);
}

/* Ends the frames of a loop without a part of them: the native frame takes their place. */
CORE_PART void script_loop_refuse(struct script *script, u32 *counter)
{
	struct script_walk *walk = script->walk;

	++*counter;
	walk->is_native |= walk->depth > STACK_USER_DEPTH_MAX; /* a ring has lost older frames */
	walk->depth = walk->start;
	walk->frame = 0;
	script_native_add(script);
}

CORE_PART void script_loop_leave(struct script *script)
{
	struct script_walk *walk = script->walk;

	walk->frame = 0;
	if (walk->depth == walk->start) {
		script_native_add(script);
		return;
	}
	walk->joined++;
	walk->at++;
}

/* Reads the frame at walk->frame. */
CORE_PART bool script_frame_read(struct script_walk *walk)
{
	return !(walk->frame & 7) &&
	       script_read(walk->frame, walk->frame_word, 8 * SCRIPT_FRAME_WORDS);
}

/* Reads the code object of the frame in walk->frame_word. */
CORE_PART bool script_code_read(struct script_walk *walk)
{
	walk->code = script_frame_word(walk, walk->layout.frame_code);
	return !(walk->code & 7) &&
	       script_read(walk->code, walk->code_word, 8 * SCRIPT_CODE_WORDS) &&
	       script_code_word(walk, walk->layout.code_type) == walk->type;
}

CORE_PART bool script_is_entry(const struct script_walk *walk)
{
	u32 mark = walk->layout.entry_mark;

	return (u8)(script_frame_word(walk, mark) >> 8 * (mark & 7)) == walk->layout.entry_value;
}

/* Adds the script's frame at walk->frame. */
CORE_PART void script_frame(struct script *script)
{
	struct script_walk *walk = script->walk;
	bool is_last;
	u64 id;

	if (!script_frame_read(walk)) {
		script_loop_refuse(script, &walk->unjoined);
		return;
	}
	is_last = script_is_entry(walk);
	if (is_last && !walk->layout.entry_is_frame) {
		script_loop_leave(script);
		return;
	}
	if (!script_code_read(walk)) {
		script_loop_refuse(script, &walk->unjoined);
		return;
	}
	id = (u32)script_cache_get(walk, script->cache);
	if (!id)
		id = script_intern(script);
	if (!id) {
		script_loop_refuse(script, &walk->unknown);
		return;
	}
	script_frame_add(script, FRAME_SCRIPT(id));
	walk->frame = script_frame_word(walk, walk->layout.frame_previous);
	if (is_last)
		script_loop_leave(script);
	else if (!core_reload(walk->frame))
		script_loop_refuse(script, &walk->unjoined);
}

/* Adds the native frame at walk->at, or enters its loop. */
CORE_PART void script_native_frame(struct script *script)
{
	struct script_walk *walk = script->walk;
	u32 index = walk->mark;
	const struct script_mark *mark;

	core_one_register(index);
	mark = &script->marks->mark[index & (SCRIPT_MARKS_MAX - 1)];
	if (walk->mark >= script->marks->count || mark->index != walk->at) {
		script_native_add(script);
		return;
	}
	walk->mark++;
	if (!script_loop_enter(script, mark))
		script_loop_refuse(script, &walk->unjoined);
}

static long script_step(u32 i, void *arg)
{
	struct script *script = arg;
	struct script_walk *walk = script->walk;

	(void)i;
	if (walk->frame)
		script_frame(script);
	else if (walk->at < walk->depth_native && walk->depth < walk->max_depth)
		script_native_frame(script);
	else
		walk->is_done = 1;
	return (walk->is_done | walk->is_native) != 0;
}

CORE_INLINE bool script_walk(struct script *script)
{
	struct script_walk *walk = script->walk;

	walk->joined = walk->unjoined = walk->unknown = walk->is_native = walk->is_done = 0;
	walk->at = walk->mark = walk->depth = 0;
	walk->frame = 0;
	walk->depth_native = script->native->depth + walk->leaf_apart;
	if (!script->marks->count || script->native->depth >= STACK_USER_DEPTH_MAX)
		return false;
	core_loop(SCRIPT_FRAMES_MAX, script_step, script);
	if (!core_reload(walk->is_done) || core_reload(walk->is_native) ||
	    core_reload(walk->depth) <= walk->leaf_apart)
		return false;
	script->stack->flags = script->native->flags;
	if (core_reload(walk->at) < walk->depth_native || walk->depth > walk->max_depth)
		script->stack->flags = STACK_USER | STACK_TRUNCATED;
	script->stack->depth = deep_stack_end((struct deep_stack *)script->stack->word,
					      core_reload(walk->depth) - walk->leaf_apart);
	return true;
}
