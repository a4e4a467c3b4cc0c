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
enum { CODE = 245, DEOPT = 175 };
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
	A_CODE,
	A_DATA,
	LISTS,
	LITERALS,
	AN_INNER,
	AN_OUTER,
	OBJECTS
};

static const u32 types[] = {CONTEXT,	FUNCTION, SHARED,    SCOPE, SCRIPT,
			    BYTECODE,	WHOLE,	  PARTS,     OTHER, WIDE,
			    WIDE_PARTS, SLICED,	  NO_STRING, CODE,  DEOPT};

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

void unwind_name_v8_frame(struct unwind *walk)
{
	(void)walk;
}

#include "unwind/unwind_alone.c"

#include "unwind/v8_inlined.c"
#include "unwind/v8_name.c"

static void put(u64 at, u64 value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static u64 tagged_address_of_object(enum object object)
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
	word_put(A_FUNCTION, 3, tagged_address_of_object(A_SHARED));
	word_put(A_SHARED, 2, tagged_address_of_object(A_SCOPE));
	word_put(A_SHARED, 4, tagged_address_of_object(A_SCRIPT));
	word_put(A_SCRIPT, 2, tagged_address_of_object(A_FILE));
	word_put(A_SCOPE, 1, number(2 | 3 << 12 | 1 << 14));
	word_put(A_SCOPE, 3, number(2));
	word_put(A_SCOPE, 4, tagged_address_of_object(A_LEFT));
	word_put(A_SCOPE, 5, tagged_address_of_object(A_LEFT));
	word_put(A_SCOPE, 8, tagged_address_of_object(A_NAME));
	word_put(A_SCOPE, 9, number(0xffffffff));
	word_put(A_SCOPE, 10, tagged_address_of_object(AN_INFERRED));
	string_put(A_NAME, "inner");
	string_put(AN_INFERRED, "inferred");
	string_put(A_FILE, "/t.js");
	string_put(A_LEFT, "Module");
	string_put(A_RIGHT, "._load");
	unwind.registers.known = REGISTERS_ALL;
	unwind.registers.value[REGISTER_FP] = BASE + STACK;
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 64;
	put(STACK - 8, tagged_address_of_object(A_CONTEXT));
	put(STACK - 16, tagged_address_of_object(A_FUNCTION));
	put(STACK - 24, 2);
	put(STACK - 32, tagged_address_of_object(A_BYTECODE));
	return 0;
}

static void check_text(u32 which, const char *text)
{
	assert_int_equal(unwind.v8.text[which].bytes, strlen(text));
	assert_memory_equal(unwind.v8.text[which].text, text, strlen(text));
}

static void check_name(const char *name)
{
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 1);
	assert_int_equal(v8_read_names_of_function(&unwind), 1);
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
	word_put(A_SHARED, 2, tagged_address_of_object(A_LEFT));
	check_name("Module");
}

TEST(scopes_with_other_words, machine_make)
{
	/* a word for a class in front of the name */
	word_put(A_SCOPE, 1, number(2 | 1 << 10 | 3 << 12 | 1 << 14));
	word_put(A_SCOPE, 8, number(1));
	word_put(A_SCOPE, 9, tagged_address_of_object(A_NAME));
	word_put(A_SCOPE, 10, number(7));
	word_put(A_SCOPE, 11, tagged_address_of_object(AN_INFERRED));
	check_name("inner");
	/* the same words for a module */
	word_put(A_SCOPE, 1, number(3 | 3 << 12 | 1 << 14));
	check_name("inner");
	/* no name but an inferred one */
	machine_make(NULL);
	word_put(A_SCOPE, 1, number(2 | 1 << 14));
	word_put(A_SCOPE, 8, tagged_address_of_object(AN_INFERRED));
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
	parts_put(AN_INFERRED, tagged_address_of_object(A_LEFT), tagged_address_of_object(A_THIN));
	type_put(A_THIN, OTHER);
	word_put(A_THIN, 2, tagged_address_of_object(A_RIGHT));
	check_name("Module._load");
	/* An object that stands for no name. */
	type_put(AN_INFERRED, NO_STRING);
	check_name("");
	/* Parts that contain themselves. */
	parts_put(AN_INFERRED, tagged_address_of_object(AN_INFERRED),
		  tagged_address_of_object(AN_INFERRED));
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
	parts_put(AN_INFERRED, tagged_address_of_object(AN_INFERRED),
		  tagged_address_of_object(A_LEFT));
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
	type_put(AN_INFERRED, SLICED);
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

TEST(texts_of_two_widths, machine_make)
{
	u64 hash;

	check_name("inner");
	hash = unwind.v8.hash;
	type_put(A_NAME, WIDE);
	assert_int_equal(v8_read_names_of_function(&unwind), 1);
	assert_int_equal(unwind.v8.text[0].bytes, 10);
	assert_int_equal(unwind.v8.text[0].width, 2);
	assert_int_not_equal(unwind.v8.hash, hash);
	/* Parts of two widths. */
	parts_put(AN_INFERRED, tagged_address_of_object(A_LEFT), tagged_address_of_object(A_NAME));
	word_put(A_SCOPE, 8, tagged_address_of_object(AN_INFERRED));
	word_put(AN_INFERRED, 1, number(11));
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

/* An empty entry of the cache of types has the map 0. */
TEST(an_object_of_zeros_is_no_text, machine_make)
{
	word_put(A_NAME, 0, 0);
	word_put(A_NAME, 1, 0);
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 1);
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

TEST(names_and_files_are_told_apart, machine_make)
{
	u64 hash;

	check_name("inner");
	hash = unwind.v8.hash;
	string_put(A_NAME, "innes");
	assert_int_equal(v8_read_names_of_function(&unwind), 1);
	assert_int_not_equal(unwind.v8.hash, hash);
	string_put(A_NAME, "inner");
	assert_int_equal(v8_read_names_of_function(&unwind), 1);
	assert_int_equal(unwind.v8.hash, hash);
	string_put(A_FILE, "/u.js");
	unwind.v8.file_script = 0;
	assert_int_equal(v8_read_names_of_function(&unwind), 1);
	assert_int_not_equal(unwind.v8.hash, hash);
	/* A name that is too long. */
	word_put(A_NAME, 1, number(SCRIPT_TEXT_BYTES + 1));
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

TEST(frames_that_are_not_of_functions, machine_make)
{
	/* another frame of V8 has a number in place of the context */
	put(STACK - 8, 44);
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 0);
	/* a built-in function has no bytecode, compiled code needs none */
	machine_make(NULL);
	put(STACK - 32, tagged_address_of_object(A_FUNCTION));
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 0);
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 1);
	/* objects of other types, or with no type where the garbage collector has moved them to */
	for (enum object i = A_CONTEXT; i <= A_SCRIPT; i++) {
		machine_make(NULL);
		put(256 * i, BASE + STACK + 0x800);
		assert_true(v8_find_function_of_frame(&unwind, 1) != 1 ||
			    !v8_read_names_of_function(&unwind));
		machine_make(NULL);
		type_put(i, SLICED);
		assert_true(v8_find_function_of_frame(&unwind, 1) != 1 ||
			    !v8_read_names_of_function(&unwind));
	}
	/* a name that is no string */
	machine_make(NULL);
	type_put(A_NAME, NO_STRING);
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 1);
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

/* The garbage collector has moved all objects of a function, in some order. */
TEST(objects_that_are_being_moved, machine_make)
{
	enum { MOVED = 0x2000 };

	parts_put(AN_INFERRED, tagged_address_of_object(A_LEFT), tagged_address_of_object(A_THIN));
	word_put(A_SCOPE, 1, number(2 | 1 << 14));
	word_put(A_SCOPE, 8, tagged_address_of_object(AN_INFERRED));
	type_put(A_THIN, OTHER);
	word_put(A_THIN, 2, tagged_address_of_object(A_RIGHT));
	check_name("Module._load");
	for (enum object i = A_CONTEXT; i < OBJECTS; i++) {
		memcpy(memory + MOVED + 256 * i, memory + 256 * i, 256);
		/* The collector may already have used the other words of the old one. */
		memset(memory + 256 * i + 8, 0xff, 248);
		put(256 * i, BASE + MOVED + 256 * i);
		unwind.v8.file_script = 0;
		check_name("Module._load");
	}
	/* An address that is its own copy. */
	put(256 * A_SCOPE, BASE + 256 * A_SCOPE);
	assert_int_equal(v8_read_names_of_function(&unwind), 0);
}

TEST(incomplete_frames, machine_make)
{
	unwind.is_interrupted = true;
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 32;
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 24;
	assert_int_equal(v8_find_function_of_frame(&unwind, 0), 0);
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 1);
	unwind.registers.value[REGISTER_SP] = BASE + STACK - 16;
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 0);
	unwind.is_interrupted = false;
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 1);
	unwind.registers.known = 0;
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 0);
}

/* Opcodes of lists of frames, each with its number of operands. An opcode from 6 on is MATCH. */
enum { BEGIN, FRAME, BUILT_IN, BUILT_IN_CATCH, VALUE, MATCH, OPCODES };

enum { CODE_START = 0x7000, CODE_BYTES = 0x100 };

/* clang-format off */
/* The code calls a function at 0x40, and at 0x60 within two functions that the compiler has put into
 * the frame's function. The second list refers to the first one. */
static const u8 lists[] = {
	BEGIN, 0, 6, 4,				/* the function, and a built-in one */
	FRAME, 0xd8, 0x84, 0x01, 0 << 1, 2, 0, 0,
	VALUE, 5,
	BUILT_IN, 1, 2, 3,
	VALUE, 0x85, 0x01,
	BEGIN, 21, 6, 6,			/* three functions; byte 21 */
	OPCODES + 2,				/* FRAME and VALUE of the first list */
	FRAME, 7, 1 << 1, 0, 0, 0,
	MATCH, 1,				/* the second VALUE, as fourth instruction */
	FRAME, 7, 2 << 1, 0, 0, 0,
	VALUE, 5,
};
/* clang-format on */

static int inlining_make(void **state)
{
	static const u32 places[][2] = {
		{0, 0xffffffff}, {0, 0xffffffff}, {0, 0x40}, {21, 0x60}, {0, 0x80}};
	struct v8_layout *layout = &unwind.v8.layout;

	machine_make(state);
	*layout = (struct v8_layout){
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
		.code = CODE,
		.deopt = DEOPT,
		.function_code = 48,
		.code_deopt = 16,
		.code_start = 40,
		.code_bytes = 52,
		.code_kind = 13,
		.opcodes = OPCODES,
		.begin = BEGIN,
		.begin_last = BEGIN,
		.frame = FRAME,
		.frame_last = FRAME,
		.operands = {3 | 5 << 4, 3 | 3 << 4, 1 | 1 << 4},
	};
	type_put(A_CODE, CODE);
	type_put(A_DATA, DEOPT);
	type_put(AN_INNER, SHARED);
	type_put(AN_OUTER, SHARED);
	word_put(A_FUNCTION, 6, tagged_address_of_object(A_CODE));
	word_put(A_CODE, 2, tagged_address_of_object(A_DATA));
	word_put(A_CODE, 5, BASE + CODE_START);
	word_put(A_CODE, 6, (u64)CODE_BYTES << 32 | 0x120 | 13);
	word_put(A_DATA, 1, number(26));
	word_put(A_DATA, 2, tagged_address_of_object(LISTS));
	word_put(A_DATA, 3, number(2));
	word_put(A_DATA, 4, tagged_address_of_object(LITERALS));
	word_put(A_DATA, 11, number(2));
	word_put(A_DATA, 12, number(3));
	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		word_put(A_DATA, 14 + 3 * i, number(places[i][0]));
		word_put(A_DATA, 15 + 3 * i, number(places[i][1]));
	}
	word_put(LISTS, 1, number(sizeof(lists)));
	memcpy(memory + 256 * LISTS + 16, lists, sizeof(lists));
	word_put(LITERALS, 1, number(3));
	word_put(LITERALS, 2, tagged_address_of_object(A_SHARED));
	word_put(LITERALS, 3, tagged_address_of_object(AN_OUTER));
	word_put(LITERALS, 4, tagged_address_of_object(AN_INNER));
	unwind.v8.inlined.steps_left = V8_STEPS_MAX;
	unwind.registers.value[REGISTER_PC] = BASE + CODE_START + 0x60;
	return 0;
}

static int inlined_find(void)
{
	assert_int_equal(v8_find_function_of_frame(&unwind, 1), 1);
	return v8_inlined_find(&unwind);
}

TEST(functions_within_a_function, inlining_make)
{
	const struct v8_inlined *inlined = &unwind.v8.inlined;

	assert_int_equal(inlined_find(), 2);
	assert_int_equal(inlined->count, 3);
	assert_int_equal(inlined->shared[0], tagged_address_of_object(A_SHARED));
	assert_int_equal(inlined->shared[1], tagged_address_of_object(AN_OUTER));
	assert_int_equal(inlined->shared[2], tagged_address_of_object(AN_INNER));
	/* one frame is that of a built-in function, which has no name here */
	unwind.registers.value[REGISTER_PC] = BASE + CODE_START + 0x40;
	assert_int_equal(inlined_find(), 0);
	assert_int_equal(inlined->count, 1);
}

/* Opcodes have a sign bit, and instructions follow the header of the description of code. */
TEST(functions_within_a_function_of_an_early_version, inlining_make)
{
	static const u8 early[] = {BEGIN << 1, 4, 4,	      0, FRAME << 1, 7, 0 << 1, 0, 0, 0,
				   VALUE << 1, 5, FRAME << 1, 7, 1 << 1,     0, 0,	0};
	u64 start = tagged_address_of_object(A_CODE) - 1 + V8_CODE_HEADER;

	unwind.v8.layout.opcode_sign = 1;
	unwind.v8.layout.code_start = 0;
	memcpy(memory + 256 * LISTS + 16 + 21, early, sizeof(early));
	unwind.registers.value[REGISTER_PC] = start + 0x60;
	assert_int_equal(inlined_find(), 1);
	assert_int_equal(unwind.v8.inlined.shared[1], tagged_address_of_object(AN_OUTER));
}

TEST(calls_without_certain_functions, inlining_make)
{
	static const struct {
		enum object object;
		u32 word;
		u64 value;
	} changes[] = {
		{A_FUNCTION, 6, 0},
		{A_CODE, 0, 0},				 /* another type */
		{A_CODE, 6, (u64)CODE_BYTES << 32 | 12}, /* another kind of code */
		{A_CODE, 6, 0x50ULL << 32 | 13},	 /* the pc is behind the code */
		{A_CODE, 5, BASE + CODE_START + 0x100},
		{A_DATA, 0, 0},
		{A_DATA, 3, 0},			 /* no function within others */
		{A_DATA, 1, 25ULL << 32},	 /* fewer places than are told */
		{A_DATA, 12, 1ULL << 32},	 /* fewer calls */
		{A_DATA, 14 + 9, 18ULL << 32},	 /* no begin of a list */
		{A_DATA, 14 + 9, 1000ULL << 32}, /* behind all lists */
		{LISTS, 1, 30ULL << 32},	 /* the list ends early */
		{LITERALS, 1, 2ULL << 32},	 /* no such literal */
		{LITERALS, 2, 0},		 /* the first function is another one */
	};

	for (u32 i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		inlining_make(NULL);
		assert_int_equal(inlined_find(), 2);
		word_put(changes[i].object, changes[i].word, changes[i].value);
		memset(unwind.v8.map, 0, sizeof(unwind.v8.map));
		assert_true(inlined_find() <= 0);
		assert_int_equal(unwind.v8.inlined.left, 0);
	}
	/* addresses that no call returns to, and a layout without functions within others */
	inlining_make(NULL);
	for (u32 pc = 0; pc <= CODE_BYTES; pc++) {
		unwind.registers.value[REGISTER_PC] = BASE + CODE_START + pc;
		assert_true(pc == 0x60 || !inlined_find());
	}
	inlining_make(NULL);
	unwind.v8.layout.opcodes = 0;
	assert_int_equal(inlined_find(), 0);
}

/* Lists of any bytes end, and name literals only. */
TEST(lists_of_any_bytes, inlining_make)
{
	u32 random = 1;

	for (u32 i = 0; i < 20000; i++) {
		s32 found;

		inlining_make(NULL);
		unwind.v8.layout.opcode_sign = i & 1;
		for (u32 j = 0; j < 4; j++) {
			random = random * 1664525 + 1013904223;
			memory[256 * LISTS + 16 + (random >> 8) % sizeof(lists)] =
				random >> (i & 2 ? 29 : 24);
		}
		found = inlined_find();
		assert_true(found < V8_INLINED_MAX);
		for (s32 j = 0; j <= found && found > 0; j++)
			assert_true(
				unwind.v8.inlined.shared[j] == tagged_address_of_object(A_SHARED) ||
				unwind.v8.inlined.shared[j] == tagged_address_of_object(AN_OUTER) ||
				unwind.v8.inlined.shared[j] == tagged_address_of_object(AN_INNER));
	}
}

/* A walk reads no more instructions than are left to it. */
TEST(a_walk_with_few_steps_left, inlining_make)
{
	unwind.v8.inlined.steps_left = 10;
	assert_int_equal(inlined_find(), 2);
	unwind.v8.inlined.steps_left = 9;
	assert_int_equal(inlined_find(), -1);
}
