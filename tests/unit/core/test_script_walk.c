/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native stacks with frames of loops, over a memory that holds the script's frames: the frames take
 * the place of their loop, and a loop with any frame that is not proven stays native.
 */
#include "script_memory.h"

#include "script_marks.h"

#include <string.h>

#include "unit_test.h"

#define TEXT_LENGTH 16
#define TEXT_HASH 24
#define TEXT_STATE 32

/* A string object of 20 characters. */
static u64 text_make(u64 hash)
{
	u64 text = room(16);

	*word_at(text + TEXT_LENGTH) = 20;
	*word_at(text + TEXT_HASH) = hash;
	*word_at(text + TEXT_STATE) = 1 << 2 | 1 << 5 | 1 << 6;
	return text;
}

/* Makes a code object with the id `id` in the cache; 0: not in the cache. */
static u64 code_make(u32 id)
{
	u64 code = room(SCRIPT_CODE_WORDS);

	*word_at(code + layout.code_type) = TYPE;
	*word_at(code + layout.code_name) = text_make(1);
	*word_at(code + layout.code_file) = text_make(~0ULL);
	*word_at(code + (layout.first_line & ~7U)) = 100 + id;
	if (!id)
		return code;
	walk.code = code;
	memcpy(walk.code_word, word_at(code), 8 * SCRIPT_CODE_WORDS);
	walk.layout = layout;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	script_cache_put(&cache, walk.key, id);
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), id);
	return code;
}

static u64 frame_make(u64 code, u64 previous, bool is_entry)
{
	u64 frame = room(SCRIPT_FRAME_WORDS);

	*word_at(frame + layout.frame_code) = code;
	*word_at(frame + layout.frame_previous) = previous;
	if (is_entry)
		((u8 *)word_at(frame))[layout.entry_mark] = layout.entry_value;
	return frame;
}

/* Gives native frame `index` a loop whose innermost frame is `frame`. */
static void loop_make(u32 index, u64 frame)
{
	u64 cfa = room(64) + 8 * 64;
	struct script_mark mark = {.cfa = cfa,
				   .pc = LOOP_PC + 0x20,
				   .place = FRAME_USER(LOOP_MAPPING, LOOP_OFFSET + 0x20),
				   .index = index};

	*word_at(cfa - layout.link) = frame;
	mark_add(&mark);
}

TEST(frames_take_the_place_of_their_loop)
{
	const u64 expected[] = {NATIVE(0), FRAME_SCRIPT(SCRIPT_CPYTHON, 3),
				FRAME_SCRIPT(SCRIPT_CPYTHON, 2), FRAME_SCRIPT(SCRIPT_CPYTHON, 1),
				NATIVE(2)};

	for (u32 entry_is_frame = 0; entry_is_frame < 2; entry_is_frame++) {
		u64 shim = 0, outer, middle;

		begin(entry_is_frame);
		if (!entry_is_frame)
			shim = frame_make(0, 0x123456, true);
		outer = frame_make(code_make(1), shim, entry_is_frame);
		middle = frame_make(code_make(2), outer, false);
		loop_make(1, frame_make(code_make(3), middle, false));
		native_make(3);
		assert_true(script_walk(&script));
		check_frames(expected, 5);
		assert_int_equal(walk.joined, 1);
		assert_int_equal(stack.flags, STACK_USER);
	}
}

TEST(each_loop_has_its_own_frames)
{
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_CPYTHON, 2), NATIVE(1),
				FRAME_SCRIPT(SCRIPT_CPYTHON, 1), NATIVE(3)};

	begin(true);
	loop_make(0, frame_make(code_make(2), 0x99, true));
	loop_make(2, frame_make(code_make(1), 0, true));
	native_make(4);
	assert_true(script_walk(&script));
	check_frames(expected, 4);
}

TEST(a_leaf_apart_is_the_innermost_frame_of_the_script)
{
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_CPYTHON, 1), NATIVE(1)};
	u64 outer;

	begin(true);
	walk.leaf_apart = 1;
	outer = frame_make(code_make(1), 0, true);
	loop_make(0, frame_make(code_make(2), outer, false));
	native_make(2);
	assert_true(script_walk(&script));
	check_frames(expected, 2);
	assert_int_equal(stack.word[STACK_WORDS_MAX - 1], FRAME_SCRIPT(SCRIPT_CPYTHON, 2));
}

TEST(a_loop_with_a_frame_that_is_not_proven_stays_native)
{
	const u64 expected[] = {NATIVE(0), NATIVE(1), FRAME_SCRIPT(SCRIPT_CPYTHON, 1)};
	u64 code, good;

	for (u32 fault = 0; fault < 5; fault++) {
		u64 bad;

		begin(true);
		good = frame_make(code_make(1), 0, true);
		code = code_make(2);
		bad = frame_make(code, 0, true);
		if (fault == 0)
			*word_at(code + layout.code_type) = TYPE + 8;
		else if (fault == 1)
			*word_at(bad + layout.frame_code) = 0x10; /* not mapped */
		else if (fault == 2)
			*word_at(bad + layout.entry_mark - 4) = 0; /* the chain ends too early */
		else if (fault == 3)
			*word_at(bad + layout.frame_code) = code + 4;
		else
			bad = BASE - 64;
		loop_make(1, frame_make(code_make(3), bad, false));
		loop_make(2, good);
		native_make(3);
		assert_true(script_walk(&script));
		check_frames(expected, 3);
		assert_int_equal(walk.unjoined, 1);
		assert_int_equal(walk.joined, 1);
	}
}

TEST(a_function_without_an_id_is_told_apart_from_a_failed_check)
{
	begin(true);
	loop_make(0, frame_make(code_make(0), 0, true));
	native_make(1);
	assert_true(script_walk(&script));
	assert_int_equal(walk.unknown, 1);
	assert_int_equal(walk.unjoined, 0);
	assert_int_equal(stack.word[0], NATIVE(0));
	interned = 77;
	assert_true(script_walk(&script));
	assert_int_equal(walk.unknown, 0);
	assert_int_equal(stack.word[0], FRAME_SCRIPT(SCRIPT_CPYTHON, 77));
}

TEST(a_code_object_that_was_replaced_is_not_found_in_the_cache)
{
	static const u32 words[] = {128, 112, 136, 72};

	for (u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		u64 code;

		begin(true);
		code = code_make(1);
		loop_make(0, frame_make(code, 0, true));
		native_make(1);
		++*word_at(code + words[i]);
		assert_true(script_walk(&script));
		assert_int_equal(walk.unknown, 1);
	}
	walk.space.execs++;
	*word_at(AT(0)) = 0;
	assert_true(script_walk(&script));
	assert_int_equal(walk.joined, 0);
}

/* The new strings have the addresses of the old ones. */
TEST(a_code_object_whose_strings_were_replaced_is_not_found_in_the_cache)
{
	for (u32 i = 0; i < 5; i++) {
		u64 code, name, file;

		begin(true);
		code = code_make(1);
		name = *word_at(code + layout.code_name);
		file = *word_at(code + layout.code_file);
		loop_make(0, frame_make(code, 0, true));
		native_make(1);
		if (i == 0)
			*word_at(name + TEXT_HASH) = 2;
		else if (i == 1)
			*word_at(name + TEXT_LENGTH) = 21;
		else if (i == 2)
			((u8 *)word_at(file))[layout.text_ascii + 19] = 'x';
		else if (i == 3)
			((u8 *)word_at(file))[layout.text_ascii + 4] = 'x';
		else
			*word_at(code + layout.code_file) = 0x10; /* not mapped */
		assert_true(script_walk(&script));
		assert_int_equal(walk.unknown, 1);
	}
}

/* A text of Java: number of references, a random number, length, characters. */
static void java_text_put(u64 text, u16 references, u16 random, const char *characters)
{
	u16 *words = (u16 *)word_at(text);

	words[0] = references;
	words[1] = random;
	words[2] = strlen(characters);
	memcpy(words + 3, characters, strlen(characters));
}

static u64 java_key(void)
{
	script_find_cached_id_of_code(&walk, &cache);
	return walk.key;
}

/* The hash of a short text has neither the bytes behind the text nor the number of references. */
TEST(texts_of_java_are_told_apart)
{
	static const char *const texts[][2] = {
		{"x", "y"},
		{"run", "rum"},
		{"run", "runs"},
		{"fifteen letters", "fifteen letterz"},
		{"sixteen letters!", "sixteen letters?"},
		{"a text of twenty-six bytes", "a text of twenty-six bytez"},
		{"a text of more than sixteen letters", "a text of more than sixteen lettert"}};

	for (u32 i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		u64 text, key;

		begin(true);
		text = room(16);
		walk.layout = (struct script_layout){.code_name = 0,
						     .code_file = 8,
						     .code_lines = 16,
						     .first_line = 24,
						     .text_kind = SCRIPT_TEXT_JAVA};
		memset(walk.code_word, 0, sizeof(walk.code_word));
		walk.code_word[0] = text;
		java_text_put(text, 1, 1000, texts[i][0]);
		key = java_key();
		assert_int_equal(walk.text_bytes, 0 + strlen(texts[i][0]));
		assert_int_equal(walk.text_from, text + 6);
		java_text_put(text, 9, 1000, texts[i][0]);
		((u8 *)word_at(text))[6 + strlen(texts[i][0])] = '.';
		assert_int_equal(java_key(), key);
		java_text_put(text, 9, 1001, texts[i][0]);
		assert_int_not_equal(java_key(), key);
		java_text_put(text, 9, 1000, texts[i][1]);
		assert_int_not_equal(java_key(), key);
	}
}

TEST(a_torn_cache_entry_counts_as_empty)
{
	begin(true);
	loop_make(0, frame_make(code_make(1), 0, true));
	native_make(1);
	for (u32 i = 0; i < 1U << SCRIPT_CACHE_BITS; i++)
		if (cache.entry[i].seal)
			cache.entry[i].id = 2;
	assert_true(script_walk(&script));
	assert_int_equal(walk.unknown, 1);
}

TEST(a_loop_between_its_frames_stays_native)
{
	begin(false);
	loop_make(0, frame_make(0, 0, true)); /* only the shim frame */
	native_make(1);
	assert_true(script_walk(&script));
	assert_int_equal(stack.word[0], NATIVE(0));
	assert_int_equal(walk.unjoined + walk.unknown, 0);
}

TEST(frames_in_a_circle_leave_the_stack_native)
{
	u64 frame;

	begin(true);
	frame = frame_make(code_make(1), 0, false);
	*word_at(frame + layout.frame_previous) = frame;
	loop_make(0, frame);
	native_make(1);
	assert_false(script_walk(&script));
}

TEST(deep_recursion_keeps_both_ends)
{
	u64 frame = 0, code;

	begin(true);
	code = code_make(1);
	for (u32 i = 0; i < 1000; i++)
		frame = frame_make(i == 0 ? code_make(2) : code, frame, i == 0);
	loop_make(1, frame);
	native_make(3);
	assert_true(script_walk(&script));
	assert_int_equal(stack.depth, STACK_USER_DEPTH_MAX);
	assert_int_equal(stack.word[0], NATIVE(0));
	assert_int_equal(stack.word[1], FRAME_SCRIPT(SCRIPT_CPYTHON, 1));
	assert_int_equal(stack.word[STACK_USER_DEPTH_MAX - 2], FRAME_SCRIPT(SCRIPT_CPYTHON, 2));
	assert_int_equal(stack.word[STACK_USER_DEPTH_MAX - 1], NATIVE(2));
}

TEST(the_limit_of_frames_cuts_the_stack)
{
	begin(true);
	loop_make(0, frame_make(code_make(1), frame_make(code_make(2), 0, true), false));
	native_make(5);
	walk.max_depth = 3;
	assert_true(script_walk(&script));
	assert_int_equal(stack.depth, 3);
	assert_int_equal(stack.flags, STACK_USER | STACK_TRUNCATED);
}

TEST(without_marks_or_a_layout_the_stack_is_native)
{
	begin(true);
	native_make(2);
	assert_false(script_walk(&script));
	loop_make(0, frame_make(code_make(1), 0, true));
	is_layout_known = false;
	assert_true(script_walk(&script));
	assert_int_equal(stack.word[0], NATIVE(0));
	assert_int_equal(walk.unjoined, 1);
}

TEST(loops_beyond_the_room_for_marks_stay_native)
{
	u64 frame;

	begin(true);
	frame = frame_make(code_make(1), 0, true);
	for (u32 i = 0; i < SCRIPT_MARKS_MAX + 3; i++)
		loop_make(i, frame);
	native_make(SCRIPT_MARKS_MAX + 3);
	assert_int_equal(marks.missed, 3);
	assert_true(script_walk(&script));
	assert_int_equal(stack.word[SCRIPT_MARKS_MAX - 1], FRAME_SCRIPT(SCRIPT_CPYTHON, 1));
	assert_int_equal(stack.word[SCRIPT_MARKS_MAX], NATIVE(SCRIPT_MARKS_MAX));
}

TEST(a_mark_of_the_same_frame_replaces_the_former_one)
{
	begin(true);
	loop_make(3, 0);
	loop_make(3, 0);
	assert_int_equal(marks.count, 1);
}

/* --- CPython 3.13 and later: a loop's frames end at a frame on the native stack --- */

#define ENTRY 144
#define THREAD_FRAME 72

static u64 thread; /* address of the thread's state */
static u64 list;   /* address of the interpreter's state */

static void begin_entered(enum script_link kind)
{
	begin(false);
	layout.link_kind = kind;
	layout.link = kind == SCRIPT_LINK_TLS ? 24 : 432;
	layout.entry = ENTRY;
	layout.thread_frame = THREAD_FRAME;
	layout.code_tag = 3;
	thread = room(32);
	thread_pointer = room(32) + 8 * 16;
	if (kind == SCRIPT_LINK_TLS)
		*word_at(thread_pointer - 24) = thread;
	layout.thread_next = 8;
	layout.thread_id = 152;
	layout.threads = 16;
	layout.interpreter = room(1) - LOOP_PC;
	list = room(4);
	*word_at(LOOP_PC + layout.interpreter) = list;
	*word_at(list + 16) = thread;
	*word_at(thread + 152) = thread_pointer;
}

/* Gives native frame `index`, from the outermost one on, a loop that runs the functions `ids`,
 * innermost last; 0 ends them. Returns the innermost frame. */
static u64 loop_enter(u32 index, u64 outer, const u32 *ids, struct script_mark *mark)
{
	u64 cfa = room(80) + 8 * 80, frame = cfa - ENTRY;

	*word_at(frame + layout.frame_previous) = outer;
	((u8 *)word_at(frame))[layout.entry_mark] = layout.entry_value;
	*word_at(cfa - 432) = thread;
	for (; *ids; ids++)
		frame = frame_make(code_make(*ids) | 1, frame, false);
	*mark = (struct script_mark){.cfa = cfa,
				     .pc = LOOP_PC + 0x20,
				     .place = FRAME_USER(LOOP_MAPPING, LOOP_OFFSET + 0x20),
				     .index = index};
	*word_at(thread + THREAD_FRAME) = frame;
	return frame;
}

TEST(entered_loops_have_the_frames_up_to_their_own_entry)
{
	static const u32 outer[] = {1, 2, 0}, inner[] = {3, 4, 0};
	const u64 expected[] = {
		NATIVE(0), FRAME_SCRIPT(SCRIPT_CPYTHON, 4), FRAME_SCRIPT(SCRIPT_CPYTHON, 3),
		NATIVE(2), FRAME_SCRIPT(SCRIPT_CPYTHON, 2), FRAME_SCRIPT(SCRIPT_CPYTHON, 1),
		NATIVE(4)};

	for (u32 kind = SCRIPT_LINK_THREAD; kind <= SCRIPT_LINK_LIST; kind++) {
		struct script_mark mark[2];

		begin_entered(kind);
		loop_enter(1, loop_enter(3, 0x9990, outer, &mark[1]), inner, &mark[0]);
		mark_add(&mark[0]);
		mark_add(&mark[1]);
		native_make(5);
		assert_true(script_walk(&script));
		check_frames(expected, 7);
		assert_int_equal(walk.joined, 2);
	}
}

/* The innermost loop has just been entered and has no mark: its frames belong to no native frame.
 */
TEST(frames_of_a_loop_without_a_mark_are_passed)
{
	static const u32 outer[] = {1, 2, 0}, inner[] = {3, 4, 0};
	const u64 expected[] = {NATIVE(0), NATIVE(1), FRAME_SCRIPT(SCRIPT_CPYTHON, 2),
				FRAME_SCRIPT(SCRIPT_CPYTHON, 1)};
	struct script_mark mark[2];

	begin_entered(SCRIPT_LINK_THREAD);
	loop_enter(0, loop_enter(2, 0, outer, &mark[1]), inner, &mark[0]);
	mark_add(&mark[1]);
	native_make(3);
	assert_true(script_walk(&script));
	check_frames(expected, 4);
}

/* The innermost loop is about to end or to begin: the thread's innermost frame is the caller's. */
TEST(a_loop_that_is_not_on_the_way_from_the_innermost_frame_stays_native)
{
	static const u32 outer[] = {1, 2, 0}, inner[] = {3, 0};
	const u64 expected[] = {NATIVE(0), NATIVE(1), FRAME_SCRIPT(SCRIPT_CPYTHON, 2),
				FRAME_SCRIPT(SCRIPT_CPYTHON, 1)};
	struct script_mark mark[2];
	u64 frame;

	begin_entered(SCRIPT_LINK_THREAD);
	frame = loop_enter(2, 0, outer, &mark[1]);
	loop_enter(0, frame, inner, &mark[0]);
	*word_at(thread + THREAD_FRAME) = frame;
	mark_add(&mark[0]);
	mark_add(&mark[1]);
	native_make(3);
	assert_true(script_walk(&script));
	check_frames(expected, 4);
	assert_int_equal(walk.unjoined, 1);
	assert_int_equal(walk.joined, 1);
}

TEST(the_interpreters_own_code_is_no_function)
{
	static const u32 ids[] = {1, 2, 3, 0};
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_CPYTHON, 3), FRAME_SCRIPT(SCRIPT_CPYTHON, 1)};
	struct script_mark mark;
	u64 frame, code;

	begin_entered(SCRIPT_LINK_THREAD);
	frame = *word_at(loop_enter(0, 0, ids, &mark) + layout.frame_previous);
	code = *word_at(frame + layout.frame_code) & ~1ULL;
	*word_at(code + layout.code_file) = *word_at(code + layout.code_name);
	*word_at(code + (layout.first_line & ~7U)) = 0;
	mark_add(&mark);
	native_make(1);
	assert_true(script_walk(&script));
	check_frames(expected, 2);
}

/* The thread has released the lock; other threads are before it in the list. */
TEST(a_thread_is_found_in_the_list)
{
	static const u32 ids[] = {1, 2, 0};
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_CPYTHON, 2), FRAME_SCRIPT(SCRIPT_CPYTHON, 1)};

	for (u32 others = 0; others < SCRIPT_THREADS_MAX + 2; others++) {
		struct script_mark mark;

		begin_entered(SCRIPT_LINK_TLS);
		*word_at(thread_pointer - 24) = 0;
		loop_enter(0, 0, ids, &mark);
		for (u32 i = 0; i < others; i++) {
			u64 other = room(32);

			*word_at(other + 152) = thread_pointer + 8;
			*word_at(other + 8) = *word_at(list + 16);
			*word_at(list + 16) = other;
		}
		mark_add(&mark);
		native_make(1);
		assert_true(script_walk(&script));
		if (others < SCRIPT_THREADS_MAX) {
			check_frames(expected, 2);
		} else {
			assert_int_equal(stack.word[0], NATIVE(0));
			assert_int_equal(walk.unjoined, 1);
		}
	}
}

TEST(a_list_without_the_thread_leaves_the_loop_native)
{
	static const u32 ids[] = {1, 0};

	for (u32 fault = 0; fault < 4; fault++) {
		struct script_mark mark;

		begin_entered(SCRIPT_LINK_LIST);
		loop_enter(0, 0, ids, &mark);
		if (fault == 0)
			*word_at(thread + 152) = thread_pointer + 8;
		else if (fault == 1)
			*word_at(list + 16) = 0x10; /* not mapped */
		else if (fault == 2)
			*word_at(LOOP_PC + layout.interpreter) = 0;
		else
			*word_at(thread + THREAD_FRAME) = 0;
		mark_add(&mark);
		native_make(1);
		assert_true(script_walk(&script));
		assert_int_equal(stack.word[0], NATIVE(0));
		assert_int_equal(walk.unjoined, 1);
	}
}

/* --- quotas --- */

TEST(a_process_gets_a_share_of_the_ids_that_are_left)
{
	u32 left = 1000, others;

	begin(true);
	walk.space.process = 1;
	for (u32 i = 0; i < 1000; i++) /* an id that is not given takes nothing of the share */
		assert_true(script_is_within_quota(&cache, &walk, left));
	while (script_is_within_quota(&cache, &walk, left)) {
		script_count_id_against_quota(&cache, &walk);
		left--;
	}
	assert_int_equal(left, 1000 - 200); /* a fifth, which is a quarter of the rest */
	others = left;
	walk.space.process = 2;
	while (script_is_within_quota(&cache, &walk, left)) {
		script_count_id_against_quota(&cache, &walk);
		left--;
	}
	assert_int_equal(others - left, 160);
	walk.space.process = 1;
	assert_false(script_is_within_quota(&cache, &walk, left));
}
