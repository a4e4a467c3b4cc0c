/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * core_loop() takes all steps: a step copies a native frame, enters the script frames of an
 * interpreter's loop, or adds one of these frames. If a script frame of a loop fails a check, all
 * script frames of the loop are dropped again, and the native frame is added in their place.
 */
#include "script_walk.h"
#include "arch/registers.h"
#include "deep_stack.h"

#define FRAME_WORDS_MASK 15
#define CODE_WORDS_MASK 31

_Static_assert(SCRIPT_FRAME_WORDS <= FRAME_WORDS_MASK + 1, "a mask bounds an index");
_Static_assert(SCRIPT_CODE_WORDS <= CODE_WORDS_MASK + 1, "a mask bounds an index");

/* Multipliers of the hash: odd numbers with half of the bits set, as in unwind/rule_search.c. */
#define KEY_WORD 0x9e3779b97f4a7c15ULL
#define SEAL_ID 0xbf58476d1ce4e5b9ULL

CORE_PART u64 script_hash_add(u64 hash, u64 word, u64 factor)
{
	hash = (hash ^ word) * factor;
	return hash ^ hash >> 29;
}

CORE_PART u64 script_word_of_code_at(const struct script_walk *walk, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return walk->code_word[index & CODE_WORDS_MASK];
}

CORE_PART u64 script_word_of_frame_at(const struct script_walk *walk, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return walk->frame_word[index & FRAME_WORDS_MASK];
}

CORE_PART u64 script_address_space_hash(const struct script_walk *walk)
{
	u64 hash = script_hash_add(walk->seed, walk->space.mm, KEY_WORD);

	hash = script_hash_add(hash, walk->space.process, KEY_WORD);
	return script_hash_add(hash, walk->space.execs, KEY_WORD);
}

/*
 * The cache key of the code object that was read: its address space, its own address, and the words
 * that say which function it is.
 */
CORE_PART u64 script_code_key(const struct script_walk *walk)
{
	const struct script_layout *layout = &walk->layout;
	u64 hash = script_hash_add(script_address_space_hash(walk), layout->version, KEY_WORD);

	hash = script_hash_add(hash, layout->code_copied ? 0 : walk->code, KEY_WORD);
	hash = script_hash_add(hash, script_word_of_code_at(walk, layout->code_name), KEY_WORD);
	hash = script_hash_add(hash, script_word_of_code_at(walk, layout->code_file), KEY_WORD);
	hash = script_hash_add(hash, script_word_of_code_at(walk, layout->code_lines), KEY_WORD);
	hash = script_hash_add(hash, script_word_of_code_at(walk, layout->first_line), KEY_WORD);
	return script_hash_add(
		hash, layout->code_number ? script_word_of_code_at(walk, layout->code_number) : 0,
		KEY_WORD);
}

/* Sets the characters of the string object of CPython whose words were read from byte 16 on. */
CORE_PART bool script_find_text_of_cpython(struct script_walk *walk, u64 address)
{
	u32 kind = walk->text_word[2], width = kind >> 2 & 7;

	walk->text_width = width;
	walk->text_bytes = walk->text_word[0] * width;
	walk->text_hash = walk->text_word[1];
	walk->text_has_hash = ~walk->text_word[1] != 0;
	walk->text_from =
		address + (kind >> 6 & 1 ? walk->layout.text_ascii : walk->layout.text_wide);
	return kind >> 5 & 1 && (width == 1 || width == 2 || width == 4);
}

/* Sets the characters of the string object of Ruby whose words were read from byte 0 on. */
CORE_PART bool script_find_text_of_ruby(struct script_walk *walk, u64 address)
{
	u64 flags = walk->text_word[0];
	bool is_apart = RUBY_IS_APART(flags);

	walk->text_width = 0;
	walk->text_hash = walk->text_has_hash = 0;
	walk->text_bytes = walk->layout.text_wide && !is_apart
				   ? flags >> walk->layout.text_wide & 31
				   : walk->text_word[2];
	walk->text_from = is_apart ? walk->text_word[3] : address + walk->layout.text_ascii;
	return RUBY_KIND(flags) == RUBY_KIND_STRING;
}

/* The bits of a word that hold the first `count` of its bytes. */
CORE_PART u64 script_first_bytes_mask(u64 count)
{
	return count < 8 ? (1ULL << 8 * (count & 7)) - 1 : ~0ULL;
}

/*
 * Describes the text of a Symbol, a text object of Java, whose first words are in walk->text_word.
 * If the whole text is in these words, it gets a hash of all its characters. The hash leaves out
 * the number of references, which changes.
 */
CORE_PART bool script_find_text_of_java(struct script_walk *walk, u64 address)
{
	u64 bytes = JAVA_TEXT_BYTES(walk->text_word[0]), end = bytes + JAVA_TEXT_FROM, hash;

	walk->text_width = 0;
	walk->text_bytes = bytes;
	walk->text_from = address + JAVA_TEXT_FROM;
	walk->text_has_hash = end <= 8 * SCRIPT_TEXT_WORDS;
	hash = script_hash_add(walk->text_word[0] & script_first_bytes_mask(end) & ~0xffffULL, 0,
			       KEY_WORD);
	hash = script_hash_add(hash,
			       end < 8 ? 0 : walk->text_word[1] & script_first_bytes_mask(end - 8),
			       KEY_WORD);
	hash = script_hash_add(
		hash, end < 16 ? 0 : walk->text_word[2] & script_first_bytes_mask(end - 16),
		KEY_WORD);
	walk->text_hash = script_hash_add(
		hash, end < 24 ? 0 : walk->text_word[3] & script_first_bytes_mask(end - 24),
		KEY_WORD);
	return true;
}

/* Sets the characters of the string object of PHP whose words were read from byte 8 on. */
CORE_PART bool script_find_text_of_php(struct script_walk *walk, u64 address)
{
	walk->text_width = 0;
	walk->text_bytes = walk->text_word[1];
	walk->text_hash = walk->text_word[0];
	walk->text_has_hash = walk->text_word[0] != 0;
	walk->text_from = address + walk->layout.text_ascii;
	return true;
}

CORE_GLOBAL int script_find_text_of_runtime(struct script_walk *walk, u64 address)
{
	u32 kind;

	if (core_is_null(walk))
		return 0;
	kind = walk->layout.text_kind;
	if (address & 7 ||
	    !script_read(address + SCRIPT_TEXT_FROM(kind), walk->text_word, SCRIPT_TEXT_WORDS * 8))
		return 0;
	if (kind == SCRIPT_TEXT_PHP)
		return script_find_text_of_php(walk, address);
	if (kind == SCRIPT_TEXT_JAVA)
		return script_find_text_of_java(walk, address);
	if (kind == SCRIPT_TEXT_CPYTHON)
		return script_find_text_of_cpython(walk, address);
	if (RUBY_KIND(walk->text_word[0]) == RUBY_KIND_ARRAY) {
		address = walk->text_word[2];
		if (!script_read(address, walk->text_word, SCRIPT_TEXT_WORDS * 8))
			return 0;
	}
	return script_find_text_of_ruby(walk, address);
}

/*
 * Adds the string at `address` to walk->key: its length, and its hash or else its last bytes. The
 * address 0 stands for no string. Returns 0 if the string is unreadable.
 */
CORE_GLOBAL_PART int script_key_add_text(struct script_walk *walk, u64 address)
{
	u64 bytes;

	if (core_is_null(walk))
		return 0;
	if (!address)
		return 1;
	if (!script_find_text_of_runtime(walk, address))
		return 0;
	bytes = walk->text_bytes < SCRIPT_TEXT_TAIL ? SCRIPT_TEXT_TAIL : walk->text_bytes;
	walk->key = script_hash_add(walk->key, walk->text_bytes, KEY_WORD);
	walk->key = script_hash_add(walk->key, walk->text_hash, KEY_WORD);
	if (walk->text_has_hash)
		return 1;
	if (!script_read(walk->text_from + bytes - SCRIPT_TEXT_TAIL, walk->text_word,
			 SCRIPT_TEXT_TAIL))
		return 0;
	walk->key = script_hash_add(walk->key, walk->text_word[0], KEY_WORD);
	walk->key = script_hash_add(walk->key, walk->text_word[1], KEY_WORD);
	return 1;
}

/* Sets walk->owner to the address of the class's name; 0: the function has no class. False:
 * unreadable. */
CORE_PART bool script_class_name_find(struct script_walk *walk)
{
	u64 owner = 0;

	walk->owner = 0;
	if (walk->layout.code_owner)
		owner = script_word_of_code_at(walk, walk->layout.code_owner);
	return !owner || script_read(owner + walk->layout.owner_name, &walk->owner, 8);
}

/* Sets walk->key to the cache key of the function. False: a string is unreadable. */
CORE_PART bool script_key_compute(struct script_walk *walk)
{
	const struct script_layout *layout = &walk->layout;

	walk->key = script_code_key(walk);
	return layout->code_number ||
	       (script_class_name_find(walk) &&
		script_key_add_text(walk, script_word_of_code_at(walk, layout->code_name)) &&
		script_key_add_text(walk, script_word_of_code_at(walk, layout->code_file)) &&
		script_key_add_text(walk, core_reload(walk->owner)));
}

CORE_PART u64 script_checksum_of_cached_id(u64 key, u64 id)
{
	return script_hash_add(script_hash_add(key, id, SEAL_ID), key, KEY_WORD);
}

CORE_INLINE u32 script_find_cached_id_of_key(const struct script_cache *cache, u64 key)
{
	const struct cached_script *entry = &cache->entry[key >> (64 - SCRIPT_CACHE_BITS)];
	u64 id = atomic_load_relaxed(&entry->id), seal = atomic_load_relaxed(&entry->seal);

	return seal && seal == script_checksum_of_cached_id(key, id) ? id : 0;
}

CORE_GLOBAL int script_find_cached_id_of_code(struct script_walk *walk,
					      const struct script_cache *cache)
{
	if (core_is_null(walk) || core_is_null(cache))
		return 0;
	return script_key_compute(walk) ? script_find_cached_id_of_key(cache, walk->key) : 0;
}

CORE_INLINE u64 script_key_of_text_hash(const struct script_walk *walk, u64 hash)
{
	return script_hash_add(script_address_space_hash(walk), hash, KEY_WORD);
}

CORE_INLINE void script_cache_put(struct script_cache *cache, u64 key, u64 id)
{
	struct cached_script *entry = &cache->entry[key >> (64 - SCRIPT_CACHE_BITS)];

	atomic_store_relaxed(&entry->seal, script_checksum_of_cached_id(key, id));
	atomic_store_relaxed(&entry->id, id);
}

CORE_INLINE bool script_is_within_quota(struct script_cache *cache, const struct script_walk *walk,
					u32 ids_left)
{
	u64 owner = script_address_space_hash(walk);
	struct script_quota *quota = &cache->quota[owner >> (64 - SCRIPT_QUOTA_BITS)];

	if (atomic_load_relaxed(&quota->owner) != owner) {
		atomic_store_relaxed(&quota->owner, owner);
		atomic_store_relaxed(&quota->count, 0);
	}
	return atomic_load_relaxed(&quota->count) < SCRIPT_QUOTA(ids_left);
}

CORE_INLINE void script_count_id_against_quota(struct script_cache *cache,
					       const struct script_walk *walk)
{
	u64 owner = script_address_space_hash(walk);

	atomic_add_relaxed(&cache->quota[owner >> (64 - SCRIPT_QUOTA_BITS)].count, 1);
}

/* --- frames --- */

/*
 * The index of the stack word of frame `number`. A leaf that is kept apart has the last word, as in
 * direct_walk().
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
CORE_PART void script_add_native_frame(struct script *script)
{
	struct script_walk *walk = script->walk;
	u32 slot = script_stack_slot(walk, walk->at);

	core_one_register(slot);
	script_frame_add(script, script->native->word[slot & (STACK_WORDS_MAX - 1)]);
	walk->at++;
}

/* Sets walk->thread to the first thread in the interpreter's list of threads; 0: unreadable. */
CORE_PART void script_first_thread_find(struct script_walk *walk, u64 loop)
{
	u64 interpreter;

	if (!script_read(loop + walk->layout.interpreter, &walk->thread, 8) ||
	    !core_reload(walk->thread))
		walk->thread = 0;
	interpreter = core_reload(walk->thread);
	if (!interpreter || !script_read(interpreter + walk->layout.threads, &walk->thread, 8))
		walk->thread = 0;
	walk->threads_left = SCRIPT_THREADS_MAX;
}

/*
 * Sets walk->frame to the innermost frame of the current loop, or walk->thread to the first thread
 * of a list. Both are 0: unreadable. `loop` is the run time address of the byte to which the
 * offsets in a layout are relative.
 */
CORE_PART void script_innermost_frame_find(struct script_walk *walk, const struct script_mark *mark,
					   u64 loop)
{
	u32 kind = walk->layout.link_kind;
	u64 at = mark->cfa - walk->layout.link;

	walk->frame = core_reload(walk->outer);
	walk->outer = 0;
	if (kind == SCRIPT_LINK_REGISTER) {
		walk->frame = mark->frame;
		walk->place = walk->layout.place_kept ? 0 : mark->code_place;
	}
	if (walk->frame || kind == SCRIPT_LINK_REGISTER)
		return;
	if (kind == SCRIPT_LINK_TLS)
		at = script_thread_pointer() - walk->layout.link;
	if (kind == SCRIPT_LINK_LIST || !script_read(at, &walk->frame, 8))
		walk->frame = 0;
	if (kind == SCRIPT_LINK_FRAME)
		return;
	at = core_reload(walk->frame);
	if (!at && kind != SCRIPT_LINK_THREAD)
		script_first_thread_find(walk, loop);
	if (!at || !script_read(at + walk->layout.thread_frame, &walk->frame, 8))
		walk->frame = 0;
}

/*
 * Begins the frames of a loop: sets walk->frame to the innermost one, or walk->thread. 0: the
 * layout is not known, or a word is unreadable.
 */
CORE_PART u64 script_loop_enter(struct script *script, const struct script_mark *mark)
{
	struct script_walk *walk = script->walk;
	const struct script_layout *layout = script_layout_of(script, FRAME_MAPPING(mark->place));

	u64 loop;
	u32 before;

	walk->frame = walk->place = walk->owner = 0;
	walk->start = walk->depth;
	if (!layout)
		return 0;
	walk->layout = *layout;
	before = layout->loop - (u32)FRAME_OFFSET(mark->place);
	if (layout->link_kind == SCRIPT_LINK_LIST && before - 1 < layout->link - layout->entry) {
		walk->is_native = 1;
		return 0;
	}
	loop = mark->pc - (FRAME_OFFSET(mark->place) - walk->layout.loop);
	walk->type = loop + walk->layout.type;
	walk->entry = walk->layout.entry ? mark->cfa - walk->layout.entry : 0;
	script_innermost_frame_find(walk, mark, loop);
	return core_reload(walk->frame) | core_reload(walk->thread);
}

/* Removes the script frames of the current loop that were added so far. */
CORE_PART void script_loop_frames_drop(struct script_walk *walk)
{
	/* the ring of a deep stack has overwritten older frames */
	walk->is_native |= walk->depth > STACK_USER_DEPTH_MAX;
	walk->depth = walk->start;
}

/*
 * The work at the end of script_walk_step(), as bits in memory. All checks set the bits and one
 * place reads them: the verifier would follow the same code at each check.
 */
enum script_end {
	SCRIPT_ADDS_NATIVE = 1, /* adds the native frame of the loop */
	/* drops the script frames of the loop and counts the loop as unjoined */
	SCRIPT_UNJOINED = 2,
	SCRIPT_UNKNOWN = 4,
};

/*
 * Ends the script frames of a loop because one of them failed: the native frame takes the place of
 * all.
 */
CORE_PART void script_loop_keep_native(struct script_walk *walk, u32 end)
{
	walk->end = end | SCRIPT_ADDS_NATIVE;
}

CORE_PART void script_loop_leave(struct script_walk *walk)
{
	u32 is_empty = walk->depth == walk->start;

	walk->frame = 0;
	walk->end = is_empty * SCRIPT_ADDS_NATIVE;
	walk->joined += !is_empty;
	walk->at += !is_empty;
}

/* Reads the frame at walk->frame, and fills the words after it (abi/script.h). */
CORE_PART bool script_frame_read(struct script_walk *walk)
{
	walk->frame_word[SCRIPT_WORD_BEHIND] = walk->frame + walk->layout.frame_bytes;
	return !(walk->frame & 7) &&
	       script_read(walk->frame, walk->frame_word, 8 * SCRIPT_FRAME_WORDS) &&
	       (!walk->layout.entry_from ||
		script_read(script_word_of_frame_at(walk, walk->layout.entry_from),
			    &walk->frame_word[SCRIPT_WORD_APART], 8));
}

/* True if the frame's place is an instruction of its code object, or one of the instructions at
 * which a frame of any function may be (script_layout.type). */
CORE_PART bool script_frame_is_in_code(const struct script_walk *walk)
{
	const struct script_layout *layout = &walk->layout;
	u32 at = layout->code_count;
	u64 count = (u32)(script_word_of_code_at(walk, at) >> 8 * (at & 4));
	u64 place = walk->place;

	if (!place)
		place = script_word_of_frame_at(walk, layout->frame_place);
	return place - script_word_of_code_at(walk, layout->code_lines) <
		       count * layout->code_unit + layout->code_end ||
	       place - walk->type < SCRIPT_OTHER_PLACES * (u64)layout->code_unit;
}

/* Reads the code object of the frame in walk->frame_word. */
CORE_PART bool script_code_read(struct script_walk *walk)
{
	walk->code = script_word_of_frame_at(walk, walk->layout.frame_code) &
		     ~(u64)walk->layout.code_tag;
	if (walk->layout.code_body &&
	    !script_read(walk->code + walk->layout.code_body, &walk->code, 8))
		return false;
	if (walk->code & 7 || !script_read(walk->code, walk->code_word, 8 * SCRIPT_CODE_WORDS))
		return false;
	return walk->layout.code_unit
		       ? script_frame_is_in_code(walk)
		       : script_word_of_code_at(walk, walk->layout.code_type) == walk->type;
}

/*
 * True for code that the interpreter itself runs to end a call. The script has no such function:
 * the name and the file name of this code are one object.
 */
CORE_PART bool script_code_is_internal(const struct script_walk *walk)
{
	u64 line = script_word_of_code_at(walk, walk->layout.first_line) >>
		   8 * (walk->layout.first_line & 4);

	return !(u32)line && script_word_of_code_at(walk, walk->layout.code_name) ==
				     script_word_of_code_at(walk, walk->layout.code_file);
}

CORE_PART bool script_is_entry_frame(const struct script_walk *walk)
{
	u32 mark = walk->layout.entry_mark;

	return (script_word_of_frame_at(walk, mark) >> 8 * (mark & 7) & walk->layout.entry_mask) ==
	       walk->layout.entry_value;
}

/* Adds a frame of the function whose code object was read. False: the function has no id. */
CORE_PART bool script_function_add(struct script *script)
{
	u64 id = (u32)script_find_cached_id_of_code(script->walk, script->cache);

	if (!id)
		id = script_find_or_add_id(script);
	if (id)
		script_frame_add(script, FRAME_SCRIPT(script->walk->layout.runtime, id));
	return id;
}

/* Adds the script frame at walk->frame, and goes on to its caller. */
CORE_PART void script_add_frame_and_step(struct script *script)
{
	struct script_walk *walk = script->walk;
	bool is_last;

	if (!script_frame_read(walk)) {
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
		return;
	}
	is_last = script_is_entry_frame(walk);
	if (is_last && walk->entry && walk->frame != walk->entry) {
		/* The frame is one with which another loop was entered, a loop further in that left
		 * no mark: the script frames so far belong to that loop, and are dropped. */
		script_loop_frames_drop(walk);
		walk->frame = script_word_of_frame_at(walk, walk->layout.frame_previous);
		if (!core_reload(walk->frame))
			script_loop_keep_native(walk, SCRIPT_UNJOINED);
		return;
	}
	if (is_last && !walk->layout.entry_is_frame) {
		if (walk->entry)
			walk->outer = script_word_of_frame_at(walk, walk->layout.frame_previous);
		script_loop_leave(walk);
		return;
	}
	if (!script_code_read(walk)) {
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
		return;
	}
	walk->place = 0;
	if (!script_code_is_internal(walk) && !script_function_add(script)) {
		script_loop_keep_native(walk, SCRIPT_UNKNOWN);
		return;
	}
	walk->frame = script_word_of_frame_at(walk, walk->layout.frame_previous);
	if (is_last)
		script_loop_leave(walk);
	else if (!core_reload(walk->frame))
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
}

/*
 * Compares the thread id in one element of the interpreter's list of threads with the current
 * thread. The element's words take the place of a code object's words.
 */
CORE_PART void script_compare_listed_thread(struct script_walk *walk)
{
	if (!walk->threads_left || walk->thread & 7 ||
	    !script_read(walk->thread, walk->code_word, 8 * SCRIPT_CODE_WORDS)) {
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
		return;
	}
	walk->threads_left--;
	if (script_thread_pointer() - script_word_of_code_at(walk, walk->layout.thread_id) <
	    THREAD_ID_REACH) {
		walk->frame = script_word_of_code_at(walk, walk->layout.thread_frame);
		walk->thread = 0;
	} else {
		walk->thread = script_word_of_code_at(walk, walk->layout.thread_next);
	}
	if (!(core_reload(walk->thread) | core_reload(walk->frame)))
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
}

/* Adds the native frame at walk->at, or begins the script frames of its loop. */
CORE_PART void script_add_native_or_enter_loop(struct script *script)
{
	struct script_walk *walk = script->walk;
	u32 index = walk->mark;
	const struct script_mark *mark;

	core_one_register(index);
	mark = &script->marks->mark[index & (SCRIPT_MARKS_MAX - 1)];
	if (walk->mark >= script->marks->count || mark->index != walk->at) {
		walk->end = SCRIPT_ADDS_NATIVE;
		return;
	}
	walk->mark++;
	if (!script_loop_enter(script, mark))
		script_loop_keep_native(walk, SCRIPT_UNJOINED);
}

static long script_walk_step(u32 i, void *arg)
{
	struct script *script = arg;
	struct script_walk *walk = script->walk;
	u32 end;

	(void)i;
	walk->end = 0;
	if (walk->thread)
		script_compare_listed_thread(walk);
	else if (walk->frame)
		script_add_frame_and_step(script);
	else if (walk->at < walk->depth_native && walk->depth < walk->max_depth)
		script_add_native_or_enter_loop(script);
	else
		walk->is_done = 1;
	end = core_reload(walk->end);
	if (end & (SCRIPT_UNJOINED | SCRIPT_UNKNOWN)) {
		walk->unjoined += end >> 1 & 1;
		walk->unknown += end >> 2 & 1;
		script_loop_frames_drop(walk);
		walk->frame = walk->thread = 0;
	}
	if (end & SCRIPT_ADDS_NATIVE)
		script_add_native_frame(script);
	return (walk->is_done | walk->is_native) != 0;
}

/* Begins a walk. False: the stack has no loops, or too many frames. */
CORE_PART bool script_walk_begin(struct script *script)
{
	struct script_walk *walk = script->walk;

	walk->joined = walk->unjoined = walk->unknown = walk->is_native = walk->is_done = 0;
	walk->at = walk->mark = walk->depth = 0;
	walk->frame = walk->outer = walk->thread = 0;
	walk->depth_native = script->native->depth + walk->leaf_apart;
	return script->marks->count && script->native->depth < STACK_USER_DEPTH_MAX;
}

/* Ends a walk after its last step. False: the native stack stays. */
CORE_PART bool script_walk_end(struct script *script)
{
	struct script_walk *walk = script->walk;

	if (!core_reload(walk->is_done) || core_reload(walk->is_native) ||
	    core_reload(walk->depth) <= walk->leaf_apart)
		return false;
	script->stack->flags = script->native->flags;
	if (core_reload(walk->at) < walk->depth_native || walk->depth > walk->max_depth)
		script->stack->flags = STACK_USER | STACK_TRUNCATED;
	script->stack->depth = deep_stack_order_frames((struct deep_stack *)script->stack->word,
						       core_reload(walk->depth) - walk->leaf_apart);
	return true;
}

CORE_INLINE bool script_walk(struct script *script)
{
	if (!script_walk_begin(script))
		return false;
	core_loop(SCRIPT_FRAMES_MAX, script_walk_step, script);
	return script_walk_end(script);
}
