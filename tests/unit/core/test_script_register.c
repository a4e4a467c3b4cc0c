/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loops of PHP and Ruby: a register leads to the innermost frame, and a frame is proven by its
 * instruction, which must be one of its function.
 */
#include "script_memory.h"

#include <string.h>

#include "unit_test.h"

/* --- PHP: a register leads to the innermost frame, and code has no type --- */

#define PLACE(instruction) (32ULL * (instruction) + 0x400000)

/* The layout of PHP 8.2. */
static void begin_php(void)
{
	begin(true);
	layout = (struct script_layout){.runtime = SCRIPT_PHP,
					.loop = LOOP_OFFSET,
					.link = 96,
					.link_kind = SCRIPT_LINK_REGISTER,
					.type = TYPE_DISTANCE,
					.frame_code = 24,
					.frame_previous = 48,
					.entry_mark = 42,
					.entry_value = 2,
					.entry_mask = 2,
					.entry_is_frame = 1,
					.code_unit = 32,
					.code_name = 8,
					.code_owner = 16,
					.code_count = 80,
					.code_lines = 88,
					.code_file = 152,
					.first_line = 160,
					.code_copied = 1,
					.owner_name = 8,
					.text_kind = SCRIPT_TEXT_PHP,
					.text_ascii = 24};
}

static u64 php_text_make(u64 hash, u64 tail)
{
	u64 text = room(16);

	*word_at(text + 8) = hash;
	*word_at(text + 16) = 20;
	*word_at(text + 24 + 8) = tail; /* of 20 characters the last 16 begin at the fourth */
	return text;
}

/* A function of a class with `instructions` instructions that the cache knows by `id`. */
static u64 function_make(u32 id, u32 instructions)
{
	u64 code = room(SCRIPT_CODE_WORDS), owner = room(4);

	*word_at(code + layout.code_name) = php_text_make(id, 0);
	*word_at(code + layout.code_owner) = owner;
	*word_at(owner + layout.owner_name) = php_text_make(1, 0);
	*word_at(code + layout.code_count) = instructions;
	*word_at(code + layout.code_lines) = PLACE(id * 100);
	*word_at(code + layout.code_file) = php_text_make(0, 7);
	walk.code = code;
	memcpy(walk.code_word, word_at(code), 8 * SCRIPT_CODE_WORDS);
	walk.layout = layout;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	script_cache_put(&cache, walk.key, id);
	return code;
}

static u64 call_make(u64 code, u64 place, u64 previous, bool is_entry)
{
	u64 frame = room(SCRIPT_FRAME_WORDS);

	*word_at(frame + layout.frame_place) = place;
	*word_at(frame + layout.frame_code) = code;
	*word_at(frame + layout.frame_previous) = previous;
	*word_at(frame + 40) = (is_entry ? 0x20000ULL : 0) | 0x1410009;
	return frame;
}

TEST(a_register_leads_to_the_frames_of_each_loop)
{
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_PHP, 2), NATIVE(1), FRAME_SCRIPT(SCRIPT_PHP, 3),
				FRAME_SCRIPT(SCRIPT_PHP, 1), NATIVE(3)};
	u64 outer, middle, inner;

	begin_php();
	outer = call_make(function_make(1, 10), PLACE(100 + 9), 0x99990, true);
	middle = call_make(function_make(3, 10), PLACE(300), outer, false);
	/* an exception was thrown in it */
	inner = call_make(function_make(2, 10), 0, middle, true);
	register_make(0, inner, TYPE + 64);
	register_make(2, middle, PLACE(301));
	native_make(4);
	assert_true(script_walk(&script));
	check_frames(expected, 5);
	assert_int_equal(walk.joined, 2);
}

TEST(frames_that_are_at_no_instruction_of_their_function_stay_native)
{
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_PHP, 1), NATIVE(1), NATIVE(2)};
	const u64 places[] = {PLACE(110), PLACE(99) + 31, 0, TYPE + 96, TYPE - 8};
	u64 outer;

	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		begin_php();
		outer = call_make(function_make(1, 10), places[i], 0, true);
		register_make(0, outer, PLACE(101));
		register_make(1, outer, places[i] ? places[i] : 8);
		register_make(2, call_make(function_make(2, 10), 0, outer, false), PLACE(201));
		native_make(3);
		assert_true(script_walk(&script));
		check_frames(expected, 3);
		assert_int_equal(walk.unjoined, 2);
	}
}

TEST(a_register_that_is_not_known_leaves_the_loop_native)
{
	begin_php();
	function_make(1, 10);
	register_make(0, 0, PLACE(100));
	native_make(1);
	assert_true(script_walk(&script));
	assert_int_equal(stack.word[0], NATIVE(0));
	assert_int_equal(walk.unjoined, 1);
}

TEST(a_copy_of_a_function_is_the_same_function_unless_a_name_differs)
{
	u64 code, copy;

	begin_php();
	code = function_make(1, 10);
	copy = room(SCRIPT_CODE_WORDS);
	memcpy(word_at(copy), word_at(code), 8 * SCRIPT_CODE_WORDS);
	walk.code = copy;
	memcpy(walk.code_word, word_at(copy), 8 * SCRIPT_CODE_WORDS);
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 1);
	/* the class's name, the function's, and the last characters of a name without a hash */
	*word_at(*word_at(*word_at(code + 16) + 8) + 8) = 2;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	*word_at(*word_at(*word_at(code + 16) + 8) + 8) = 1;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 1);
	*word_at(*word_at(code + 8) + 8) = 2;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	*word_at(*word_at(code + 8) + 8) = 1;
	*word_at(*word_at(code + 152) + 32) = 8;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
}

/* --- Ruby: frames side by side, the code object behind another object --- */

#define RUBY_FRAME 56
#define RUBY_APART (1U << 13)

/* The layout of Ruby 3.3, or of 3.1 with strings that have their length in the flags. */
static void begin_ruby(bool is_old)
{
	begin(true);
	layout = (struct script_layout){.runtime = SCRIPT_RUBY,
					.loop = LOOP_OFFSET,
					.link = 16,
					.link_kind = SCRIPT_LINK_REGISTER,
					.frame_code = 16,
					.frame_bytes = RUBY_FRAME,
					.entry_from = 32,
					.frame_previous = 8 * SCRIPT_WORD_BEHIND,
					.entry_mark = 8 * SCRIPT_WORD_APART,
					.entry_value = 0x20,
					.entry_mask = 0x20,
					.entry_is_frame = 1,
					.code_body = 16,
					.place_kept = 1,
					.code_unit = 8,
					.code_end = 1,
					.code_count = 4,
					.code_lines = 8,
					.code_file = 0x40,
					.code_name = 0x50,
					.first_line = 0x58,
					.text_kind = SCRIPT_TEXT_RUBY,
					.text_ascii = is_old ? 16 : 24,
					.text_wide = is_old ? 14 : 0};
}

/* A string: in the object, or apart from it. */
static u64 ruby_text_make(const char *text, bool is_apart)
{
	u64 object = room(8), at = is_apart ? room(4) : object + layout.text_ascii;
	u64 length = strlen(text);

	*word_at(object) = RUBY_KIND_STRING | (is_apart ? RUBY_APART : 0);
	if (layout.text_wide && !is_apart)
		*word_at(object) |= length << layout.text_wide;
	else
		*word_at(object + 16) = length;
	if (is_apart)
		*word_at(object + 24) = at;
	memcpy(word_at(at), text, length);
	return object;
}

/* Returns the object that leads to a function of `instructions` instructions; the cache knows the
 * function by `id`. The file's name is in an array. */
static u64 ruby_function_make(u32 id, u32 instructions)
{
	u64 object = room(4), body = room(SCRIPT_CODE_WORDS), files = room(4);

	*word_at(object + layout.code_body) = body;
	*word_at(body) = (u64)instructions << 32;
	*word_at(body + layout.code_lines) = PLACE(id);
	*word_at(files) = RUBY_KIND_ARRAY;
	*word_at(files + 16) = ruby_text_make("/srv/a.rb", true);
	*word_at(body + layout.code_file) = files;
	*word_at(body + layout.code_name) = ruby_text_make("each", false);
	*word_at(body + layout.first_line) = id;
	walk.code = body;
	memcpy(walk.code_word, word_at(body), 8 * SCRIPT_CODE_WORDS);
	walk.layout = layout;
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	script_cache_put(&cache, walk.key, id);
	return object;
}

/* Fills frame `number` of `frames`, which are counted from the innermost one on. */
static void ruby_call_make(u64 frames, u32 number, u64 object, u64 place, bool is_entry)
{
	u64 frame = frames + number * RUBY_FRAME, flags = room(1);

	*word_at(frame) = place;
	*word_at(frame + 16) = object;
	*word_at(frame + 32) = flags;
	*word_at(flags) = is_entry ? 0x11110021 : 0x11110001;
}

TEST(frames_that_lie_side_by_side_are_joined_for_each_loop)
{
	const u64 expected[] = {FRAME_SCRIPT(SCRIPT_RUBY, 3), FRAME_SCRIPT(SCRIPT_RUBY, 2),
				NATIVE(1), FRAME_SCRIPT(SCRIPT_RUBY, 1), NATIVE(3)};

	for (u32 is_old = 0; is_old < 2; is_old++) {
		u64 frames;

		begin_ruby(is_old);
		frames = room(4 * RUBY_FRAME / 8 + SCRIPT_FRAME_WORDS);
		ruby_call_make(frames, 0, ruby_function_make(3, 4), PLACE(3), false);
		ruby_call_make(frames, 1, ruby_function_make(2, 4), PLACE(2) + 8 * 4, true);
		/* a function of C, which no loop runs */
		ruby_call_make(frames, 2, 0, 0, false);
		ruby_call_make(frames, 3, ruby_function_make(1, 4), PLACE(1) + 8, true);
		register_make(0, frames, 0x123450);
		register_make(2, frames + 3 * RUBY_FRAME, 0x123450);
		native_make(4);
		assert_true(script_walk(&script));
		check_frames(expected, 5);
		assert_int_equal(walk.joined, 2);
	}
}

TEST(frames_of_ruby_that_are_not_proven_leave_the_loop_native)
{
	for (u32 fault = 0; fault < 5; fault++) {
		u64 frames, object;

		begin_ruby(false);
		frames = room(2 * RUBY_FRAME / 8 + SCRIPT_FRAME_WORDS);
		object = ruby_function_make(2, 4);
		ruby_call_make(frames, 0, ruby_function_make(1, 4), PLACE(1), false);
		ruby_call_make(frames, 1, object, PLACE(2), true);
		if (fault == 0)
			*word_at(frames) = PLACE(1) + 8 * 4 + 1; /* behind the end */
		else if (fault == 1)
			*word_at(frames + RUBY_FRAME) = PLACE(2) - 8;
		else if (fault == 2)
			*word_at(frames + RUBY_FRAME + 32) = 0x10; /* not mapped */
		else if (fault == 3)
			*word_at(object + layout.code_body) = 0x10;
		else
			*word_at(frames + RUBY_FRAME + 16) = 0; /* a function of C */
		register_make(0, frames, PLACE(1));
		native_make(1);
		assert_true(script_walk(&script));
		assert_int_equal(stack.word[0], NATIVE(0));
		assert_int_equal(walk.unjoined, 1);
	}
}

TEST(a_function_of_ruby_with_another_name_or_file_is_another_function)
{
	u64 body, name, file;

	begin_ruby(false);
	body = *word_at(ruby_function_make(1, 4) + layout.code_body);
	name = *word_at(body + layout.code_name);
	file = *word_at(*word_at(body + layout.code_file) + 16);
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 1);
	((u8 *)word_at(name + layout.text_ascii))[3] = 'x';
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	((u8 *)word_at(name + layout.text_ascii))[3] = 'h';
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 1);
	((u8 *)word_at(*word_at(file + 24)))[5] = 'x';
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
	((u8 *)word_at(*word_at(file + 24)))[5] = 'a';
	*word_at(name) = RUBY_KIND_ARRAY + 1; /* no string */
	assert_int_equal(script_find_cached_id_of_code(&walk, &cache), 0);
}
