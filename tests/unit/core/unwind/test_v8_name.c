/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of V8's functions; one array has the stack and all objects. */
#include <string.h>

#include "unit_test.h"

#define CORE_EMBEDDED
#define UNWIND_READS_V8
#include "unwind/unwind.h"

#define BASE 0x10000
#define BYTES 0x8000

/* Types of objects. */
enum { CONTEXT = 205, FUNCTION = 2066, SHARED = 262, SCOPE = 261, SCRIPT = 167, BYTECODE = 191 };
enum { WHOLE = 8, PARTS = 41, OTHER = 45, WIDE = 0, WIDE_PARTS = 33, SLICED = 43, NO_STRING = 131 };

/* Places in the array. Each object has 256 bytes, and the map of a type follows from the type. */
enum { STACK = 0x6000, MAPS = 0x4000 };

enum object {
	A_CONTEXT,
	A_FUNCTION,
	A_SHARED,
	A_SCOPE,
	A_SCRIPT,
	A_BYTECODE,
	A_NAME,
	A_FILE,
	A_LEFT,
	A_RIGHT,
	A_THIN,
	AN_INFERRED,
	OBJECTS
};

static const u32 types[] = {CONTEXT, FUNCTION, SHARED, SCOPE,	   SCRIPT, BYTECODE, WHOLE,
			    PARTS,   OTHER,    WIDE,   WIDE_PARTS, SLICED, NO_STRING};

static u8 memory[BYTES];
static struct unwind unwind;

bool unwind_read(struct unwind *walk, u64 address, void *buffer, u32 bytes)
{
	(void)walk;
	if (address - BASE > BYTES || BYTES - (address - BASE) < bytes)
		return false;
	memcpy(buffer, memory + (address - BASE), bytes);
	return true;
}

bool unwind_find_mapping(struct unwind *walk, u64 pc)
{
	(void)walk;
	return pc - BASE < BYTES;
}

void unwind_v8_name(struct unwind *walk)
{
	(void)walk;
}

#include "unwind/unwind_alone.c"

#include "unwind/v8_name.c"

static void put(u64 at, u64 value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static u64 tagged(enum object object)
{
	return BASE + 256 * object + 1;
}

static u64 number(u64 value)
{
	return value << 32;
}

static void type_put(enum object object, u32 type)
{
	for (u32 i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i] == type)
			put(256 * object, BASE + MAPS + 32 * i + 1);
	memset(unwind.v8.map, 0, sizeof(unwind.v8.map));
}

static void word_put(enum object object, u32 word, u64 value)
{
	put(256 * object + 8 * word, value);
}

static void string_put(enum object object, const char *text)
{
	type_put(object, WHOLE);
	word_put(object, 1, number(strlen(text)));
	memcpy(memory + 256 * object + 16, text, strlen(text));
}

static void parts_put(enum object object, u64 left, u64 right)
{
	type_put(object, PARTS);
	word_put(object, 2, left);
	word_put(object, 3, right);
}

/* A function whose scope has two variables, its name and an inferred name. */
static int machine_make(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	memset(&unwind, 0, sizeof(unwind));
	for (u32 i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		memcpy(memory + MAPS + 32 * i + 12, &(u16){types[i]}, 2);
	unwind.v8.layout = (struct v8_layout){
		.function = FUNCTION,
		.shared = SHARED,
		.scope = SCOPE,
		.script = SCRIPT,
		.bytecode = BYTECODE,
		.context = CONTEXT,
		.context_end = CONTEXT + 10,
		.function_shared = 24,
		.shared_name = 16,
		.shared_script = 32,
	};
	for (enum object i = A_CONTEXT; i <= A_BYTECODE; i++)
		type_put(i, types[i]);
	word_put(A_FUNCTION, 3, tagged(A_SHARED));
	word_put(A_SHARED, 2, tagged(A_SCOPE));
	word_put(A_SHARED, 4, tagged(A_SCRIPT));
	word_put(A_SCRIPT, 2, tagged(A_FILE));
	word_put(A_SCOPE, 1, number(2 | 3 << 12 | 1 << 14));
	word_put(A_SCOPE, 3, number(2));
	word_put(A_SCOPE, 4, tagged(A_LEFT));
	word_put(A_SCOPE, 5, tagged(A_LEFT));
	word_put(A_SCOPE, 8, tagged(A_NAME));
	word_put(A_SCOPE, 9, number(0xffffffff));
	word_put(A_SCOPE, 10, tagged(AN_INFERRED));
	string_put(A_NAME, "inner");
	string_put(AN_INFERRED, "inferred");
	string_put(A_FILE, "/t.js");
	string_put(A_LEFT, "Module");
	string_put(A_RIGHT, "._load");
	unwind.registers.known = REGISTERS_ALL;
	unwind.registers.value[REGISTER_FP] = BASE + STACK;
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 64;
	put(STACK - 8, tagged(A_CONTEXT));
	put(STACK - 16, tagged(A_FUNCTION));
	put(STACK - 24, 2);
	put(STACK - 32, tagged(A_BYTECODE));
	return 0;
}

static void check_text(u32 which, const char *text)
{
	assert_int_equal(unwind.v8.text[which].bytes, strlen(text));
	assert_memory_equal(unwind.v8.text[which].text, text, strlen(text));
}

static void check_name(const char *name)
{
	assert_int_equal(v8_function_find(&unwind, 0), 1);
	assert_int_equal(v8_name_find(&unwind), 1);
	check_text(0, name);
	check_text(1, "/t.js");
}

TEST(the_name_of_a_scope, machine_make)
{
	unwind.returns.is_guess = 1;
	check_name("inner");
	assert_int_equal(unwind.v8.text[0].width, 1);
	assert_int_equal(unwind.returns.is_guess, 0);
	/* The name of the shared object itself. */
	word_put(A_SHARED, 2, tagged(A_LEFT));
	check_name("Module");
}

TEST(scopes_with_other_words, machine_make)
{
	/* a word for a class in front of the name */
	word_put(A_SCOPE, 1, number(2 | 1 << 10 | 3 << 12 | 1 << 14));
	word_put(A_SCOPE, 8, number(1));
	word_put(A_SCOPE, 9, tagged(A_NAME));
	word_put(A_SCOPE, 10, number(7));
	word_put(A_SCOPE, 11, tagged(AN_INFERRED));
	check_name("inner");
	/* the same words for a module */
	word_put(A_SCOPE, 1, number(3 | 3 << 12 | 1 << 14));
	check_name("inner");
	/* no name but an inferred one */
	machine_make(NULL);
	word_put(A_SCOPE, 1, number(2 | 1 << 14));
	word_put(A_SCOPE, 8, tagged(AN_INFERRED));
	check_name("inferred");
	/* so many variables that a hash table has their names */
	machine_make(NULL);
	word_put(A_SCOPE, 3, number(75));
	memcpy(memory + 256 * A_SCOPE + 8 * 80, memory + 256 * A_SCOPE + 8 * 8, 24);
	check_name("inner");
}

TEST(inferred_names_of_parts, machine_make)
{
	string_put(A_NAME, "");
	word_put(A_NAME, 1, 0);
	parts_put(AN_INFERRED, tagged(A_LEFT), tagged(A_THIN));
	type_put(A_THIN, OTHER);
	word_put(A_THIN, 2, tagged(A_RIGHT));
	check_name("Module._load");
	/* An object that stands for no name. */
	type_put(AN_INFERRED, NO_STRING);
	check_name("");
	/* Parts that contain themselves. */
	parts_put(AN_INFERRED, tagged(AN_INFERRED), tagged(AN_INFERRED));
	assert_int_equal(v8_name_find(&unwind), 0);
	parts_put(AN_INFERRED, tagged(AN_INFERRED), tagged(A_LEFT));
	assert_int_equal(v8_name_find(&unwind), 0);
	type_put(AN_INFERRED, SLICED);
	assert_int_equal(v8_name_find(&unwind), 0);
}

TEST(texts_of_two_widths, machine_make)
{
	u64 hash;

	check_name("inner");
	hash = unwind.v8.hash;
	type_put(A_NAME, WIDE);
	assert_int_equal(v8_name_find(&unwind), 1);
	assert_int_equal(unwind.v8.text[0].bytes, 10);
	assert_int_equal(unwind.v8.text[0].width, 2);
	assert_int_not_equal(unwind.v8.hash, hash);
	/* Parts of two widths. */
	parts_put(AN_INFERRED, tagged(A_LEFT), tagged(A_NAME));
	word_put(A_SCOPE, 8, tagged(AN_INFERRED));
	word_put(AN_INFERRED, 1, number(11));
	assert_int_equal(v8_name_find(&unwind), 0);
}

/* An empty entry of the cache of types has the map 0. */
TEST(an_object_of_zeros_is_no_text, machine_make)
{
	word_put(A_NAME, 0, 0);
	word_put(A_NAME, 1, 0);
	assert_int_equal(v8_function_find(&unwind, 0), 1);
	assert_int_equal(v8_name_find(&unwind), 0);
}

TEST(names_and_files_are_told_apart, machine_make)
{
	u64 hash;

	check_name("inner");
	hash = unwind.v8.hash;
	string_put(A_NAME, "innes");
	assert_int_equal(v8_name_find(&unwind), 1);
	assert_int_not_equal(unwind.v8.hash, hash);
	string_put(A_NAME, "inner");
	assert_int_equal(v8_name_find(&unwind), 1);
	assert_int_equal(unwind.v8.hash, hash);
	string_put(A_FILE, "/u.js");
	unwind.v8.file_script = 0;
	assert_int_equal(v8_name_find(&unwind), 1);
	assert_int_not_equal(unwind.v8.hash, hash);
	/* A name that is too long. */
	word_put(A_NAME, 1, number(SCRIPT_TEXT_BYTES + 1));
	assert_int_equal(v8_name_find(&unwind), 0);
}

TEST(frames_that_are_not_of_functions, machine_make)
{
	/* another frame of V8 has a number in place of the context */
	put(STACK - 8, 44);
	assert_int_equal(v8_function_find(&unwind, 1), 0);
	/* a built-in function has no bytecode, compiled code needs none */
	machine_make(NULL);
	put(STACK - 32, tagged(A_FUNCTION));
	assert_int_equal(v8_function_find(&unwind, 0), 0);
	assert_int_equal(v8_function_find(&unwind, 1), 1);
	/* objects of other types, or without a type while the garbage collector moves them */
	for (enum object i = A_CONTEXT; i <= A_SCRIPT; i++) {
		machine_make(NULL);
		put(256 * i, BASE + STACK + 0x800);
		assert_true(v8_function_find(&unwind, 1) != 1 || !v8_name_find(&unwind));
		machine_make(NULL);
		type_put(i, SLICED);
		assert_true(v8_function_find(&unwind, 1) != 1 || !v8_name_find(&unwind));
	}
	/* a name that is no string */
	machine_make(NULL);
	type_put(A_NAME, NO_STRING);
	assert_int_equal(v8_function_find(&unwind, 0), 1);
	assert_int_equal(v8_name_find(&unwind), 0);
}

TEST(incomplete_frames, machine_make)
{
	unwind.is_interrupted = true;
	assert_int_equal(v8_function_find(&unwind, 0), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 32;
	assert_int_equal(v8_function_find(&unwind, 0), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 24;
	assert_int_equal(v8_function_find(&unwind, 0), 0);
	assert_int_equal(v8_function_find(&unwind, 1), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 16;
	assert_int_equal(v8_function_find(&unwind, 1), 0);
	unwind.is_interrupted = false;
	assert_int_equal(v8_function_find(&unwind, 1), 1);
	unwind.registers.known = 0;
	assert_int_equal(v8_function_find(&unwind, 1), 0);
}
