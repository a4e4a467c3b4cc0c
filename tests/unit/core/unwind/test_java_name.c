/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Methods, inlined functions and their names in frames of OpenJDK's generated code. */
#include "java_machine.h"

static void check_names(void)
{
	assert_true(java_find_method_without_wait(&unwind));
	assert_true(java_find_names_of_method(&unwind));
	assert_int_equal(unwind.java.constants, BASE + CONST);
	assert_int_equal(unwind.java.holder, BASE + CLASS);
	assert_int_equal(unwind.java.name, BASE + TEXTS + 64 * 2);
	assert_int_equal(unwind.java.file, BASE + TEXTS + 64 * 3);
}

TEST(the_method_of_a_frame, machine_make)
{
	set_registers_of_java_frame(LOOP + 8, STACK, STACK + 0x100);
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48 + 19);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind.java.method, BASE + METHOD);
	assert_int_equal(unwind.java.is_compiled, 0);
	check_names();
	memcpy(memory + POOL + 54, &(u16){0}, 2);
	assert_true(java_find_names_of_method(&unwind));
	assert_int_equal(unwind.java.file, 0);
	unwind.java.layout.has_names = 0;
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind.java.method, 0);
}

/* A block is the code of a method by the name of its kind. */
TEST(the_method_of_compiled_code, machine_make)
{
	static const char *const kinds[] = {"nmethod", "native nmethod", "nmethods", "RuntimeStub"};

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		machine_make(state);
		put_bytes(KIND, kinds[i], strlen(kinds[i]) + 1);
		put(CODE + 4 * 128 + HEADER + 96, BASE + KIND);
		put(CODE + 4 * 128 + HEADER + 112, BASE + METHOD);
		set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
		put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
		unwind.java.method = unwind.java.own_name = 0;
		assert_true(java_rule(&unwind));
		assert_int_equal(unwind.java.method, i < 2 ? BASE + METHOD : 0);
		/* a method's block does not lend its name */
		assert_int_equal(unwind.java.own_name, i < 2 ? 0 : BASE + KIND);
		if (i < 2) {
			assert_int_equal(unwind.java.is_compiled, 1);
			check_names();
		}
	}
}

TEST(words_that_are_not_those_of_a_method, machine_make)
{
	static const struct {
		u64 at, value;
	} words[] = {{METHOD + 8, 8},
		     {CONST + 16, BASE + POOL + 8},
		     {CLASS + 232, BASE},
		     {CLASS + 24, ~7ULL},
		     {POOL + 8, 8},
		     {POOL + 60, 2},
		     {TAGS, 0},
		     {POOL + 72 + 16, 0x10},
		     {TEXTS + 128, ~0ULL},
		     {CONST + 32, 0}};

	for (u32 i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		machine_make(state);
		unwind.java.method = BASE + METHOD;
		assert_true(java_find_names_of_method(&unwind));
		put(words[i].at, words[i].value);
		assert_false(java_find_names_of_method(&unwind));
	}
	machine_make(state);
	unwind.java.method = BASE + METHOD + 1;
	assert_false(java_find_names_of_method(&unwind));
}

#define INNER 300 /* number of the innermost method, which takes two digits */

/* Scopes of three functions at COMPILED: the innermost one's lies last. */
static void scopes_make(u32 numbers, bool is_apart)
{
	static const u8 scopes[][11] = {{0xff, 0, 1, 1, 2, 3, 236, 1, 9, 0, 1},
					{0xff, 1, 2, 2, 3, 4, 237, 2, 9, 1, 2}};
	const struct java_place places[] = {{-1, 0, {}},
					    {8, 1, {}},
					    {COMPILED - BLOB - 0x40, 5, {}},
					    {0x200, 0, {}},
					    {0x300, 0, {}}};
	struct java_layout *java = &layout;

	put(BLOB + 96, BASE + KIND);
	put_bytes(KIND, "nmethod", 8);
	put(BLOB + 112, BASE + METHOD);
	memcpy(memory + SCOPES, scopes[numbers == JAVA_NUMBERS_FROM_1], sizeof(scopes[0]));
	memcpy(memory + PLACES, places, sizeof(places));
	put(METHODS, BASE + METHOD);
	put(METHODS + 8, BASE + 0x10);
	put(METHODS + 8 * (INNER - 1), BASE + 0x20);
	java->scope_numbers = numbers;
	java->scope_data = 120;
	java->scope_places = 128 / 4;
	java->scope_methods = 136 / 4;
	java->scope_apart = is_apart ? 144 : 0;
	put(BLOB + 120, BASE + (is_apart ? PLACES - 16 : SCOPES));
	put(BLOB + 128, is_apart ? (SCOPES - PLACES + 16ULL) << 32 | 16
				 : (PLACES + sizeof(places) - BLOB) << 32 | (PLACES - BLOB));
	put(BLOB + 136, is_apart ? 24 : METHODS - BLOB);
	put(BLOB + 144, BASE + METHODS - 24);
	if (is_apart) /* descriptions go on up to the scopes */
		for (u64 at = PLACES + sizeof(places); at < SCOPES; at += sizeof(places[0]))
			put(at, 0x400);
	unwind_find_java_layout(&unwind);
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
	assert_true(java_rule(&unwind));
}

TEST(inlined_functions_of_both_forms, machine_make)
{
	for (u32 numbers = JAVA_NUMBERS_FROM_0; numbers <= JAVA_NUMBERS_FROM_1; numbers++)
		for (u32 is_apart = 0; is_apart < 2; is_apart++) {
			machine_make(state);
			scopes_make(numbers, is_apart);
			assert_true(java_inlined_find(&unwind));
			assert_int_equal(unwind.java.inlined, 2);
			assert_int_equal(unwind.java.chain[0], BASE + 0x20);
			assert_int_equal(unwind.java.chain[1], BASE + 0x10);
			assert_int_equal(unwind.java.chain[2], BASE + METHOD);
		}
}

static void check_method_is_alone(bool result)
{
	assert_int_equal(java_inlined_find(&unwind), result);
	assert_int_equal(unwind.java.inlined, 0);
	assert_int_equal(unwind.java.chain[0], BASE + METHOD);
}

TEST(addresses_that_are_not_described, machine_make)
{
	scopes_make(JAVA_NUMBERS_FROM_0, false);
	unwind.registers.value[REGISTER_PC]++;
	check_method_is_alone(true);
	unwind.registers.value[REGISTER_PC] = BASE + BLOB + 0x40 + 0x200; /* no scope */
	check_method_is_alone(true);
	unwind.registers.value[REGISTER_PC] = BASE + BLOB + 0x40 + 8; /* no call is inlined */
	check_method_is_alone(true);
	unwind.registers.value[REGISTER_PC] = BASE + COMPILED;
	unwind.java.layout.scope_numbers = JAVA_NUMBERS_UNKNOWN;
	check_method_is_alone(true);
}

TEST(scopes_that_are_not_those_of_the_method, machine_make)
{
	static const struct {
		u64 at;
		u8 value;
	} bytes[] = {{SCOPES + 5, 9},	  /* the scope of the caller is not before the scope */
		     {SCOPES + 4, 0},	  /* the method has no number */
		     {SCOPES + 2, 2},	  /* the outermost method is another one */
		     {METHODS + 2, 0xff}, /* the same */
		     {BLOB + 123, 0xff},  /* unreadable scopes */
		     {BLOB + 139, 0xff}}; /* unreadable addresses of methods */

	for (u32 i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		machine_make(state);
		scopes_make(JAVA_NUMBERS_FROM_0, false);
		memory[bytes[i].at] = bytes[i].value;
		check_method_is_alone(false);
	}
}

/* More scopes than a frame may have functions. */
TEST(scopes_without_end, machine_make)
{
	scopes_make(JAVA_NUMBERS_FROM_0, false);
	memset(memory + SCOPES, 0, 0x200);
	for (u32 i = 1; i <= JAVA_CHAIN_MAX + 1; i++) {
		memory[SCOPES + 2 * i] = 2 * (i - 1);
		memory[SCOPES + 2 * i + 1] = 1;
	}
	put(PLACES + 36, 2 * JAVA_CHAIN_MAX);
	assert_true(java_inlined_find(&unwind));
	assert_int_equal(unwind.java.inlined, JAVA_CHAIN_MAX - 1);
	put(PLACES + 36, 2 * JAVA_CHAIN_MAX + 2);
	check_method_is_alone(false);
}

TEST(inlined_functions_are_frames, machine_make)
{
	const u64 inner = FRAME_SCRIPT(SCRIPT_JAVA_INLINED, 1);

	for (u32 most = 1; most < 8; most++) {
		machine_make(state);
		scopes_make(JAVA_NUMBERS_FROM_0, false);
		set_registers_of_java_frame(LOOP + 8, STACK, STACK + 0x100);
		interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48 + 19);
		unwind.registers.value[REGISTER_R13] = BASE + CONST + 48;
		put(STACK + 0x140 + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
		put(STACK + 0x140 + 16 * COMPILED_WORDS - 8, BASE + LOOP + 0x2000);
		unwind_stack(&unwind, most);
		assert_in_range(unwind.depth, most < 7 ? most : 7, most);
		assert_int_equal(unwind.frame[0], BASE + LOOP + 8);
		for (u32 i = 1; i < unwind.depth && i < 7; i++)
			assert_int_equal(unwind.frame[i],
					 i % 3 ? inner + ((i % 3 - 1ULL) << SCRIPT_PLACE_BITS)
					       : BASE + COMPILED);
		assert_int_equal(unwind.stop == STOP_DEPTH, most < 8);
	}
}
