/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps through frames of OpenJDK's generated code. */
#include "java_machine.h"

TEST(compiled_frames, machine_make)
{
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
	put(STACK + 8 * COMPILED_WORDS - 16, BASE + STACK + 0x300);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_PC], BASE + COMPILED);
	assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 8 * COMPILED_WORDS);
	assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x300);
	assert_true(unwind.registers.known >> REGISTER_R15 & 1);
	assert_false(unwind.registers.known >> REGISTER_RBX & 1);
}

TEST(words_pushed_for_a_call, machine_make)
{
	put_bytes(COMPILED, "\x5e\x41\x59\x5b", 4); /* pop %rsi; pop %r9; another pop */
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(STACK + 8 * (COMPILED_WORDS + 2) - 8, BASE + COMPILED);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind.rule.cfa_offset, 8 * (COMPILED_WORDS + 2));
}

/* The end of a function: for each pc the distance from rsp to the CFA, in words, and the place of
 * the saved rbp below the CFA. */
TEST(the_last_instructions, machine_make)
{
	static const struct {
		u32 at, words, slot;
	} ends[] = {{4, 2, 2}, {5, 1, 0}, {12, 1, 0}};
	const char *code =
		"\x48\x83\xc4\x20\x5d\x49\x3b\xa7\x48\x03\x00\x00\x0f\x87\x00\x00\x00\x00";

	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		machine_make(NULL);
		put_bytes(COMPILED + 32, code, 18);
		set_registers_of_java_frame(COMPILED + 32 + ends[i].at, STACK, STACK + 0x200);
		unwind.is_interrupted = true;
		assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
		put(STACK + 8 * ends[i].words - 8, BASE + COMPILED);
		assert_true(java_rule(&unwind));
		assert_int_equal(unwind.rule.cfa_offset, 8 * ends[i].words);
		assert_int_equal(unwind.rule.slot[SLOT_FP], ends[i].slot);
	}
}

#define STUB (CODE + 14 * 128) /* a block of one segment */
#define STUB_BLOB (STUB + HEADER)

/* An interrupted function whose return address follows a direct call of a stub. */
static void called_by_stub_put(const char *kind, u64 rsp)
{
	machine_make(NULL);
	memory[SEGMENTS + 14] = 0;
	put(STUB, 1);
	put(STUB + 8, 1);
	put_bytes(KIND, kind, strlen(kind) + 1);
	put(STUB_BLOB + 96, BASE + KIND);
	put_bytes(COMPILED - 5, CALL_CODE, 5);
	memcpy(memory + COMPILED - 4, &(s32){STUB + 64 - COMPILED}, 4);
	set_registers_of_java_frame(COMPILED + 64, rsp, rsp + 0x200);
	put(rsp + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
	unwind.is_interrupted = true;
	unwind_code_rule(&unwind, &unwind.rule);
}

TEST(interrupted_functions_that_stubs_have_called, machine_make)
{
	(void)state;
	called_by_stub_put("vtable chunks", STACK);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind.rule.cfa_offset, 8 * COMPILED_WORDS);
	assert_int_equal(unwind.java.blob, BASE + CODE + 4 * 128 + HEADER);
	called_by_stub_put("native nmethod", STACK);
	assert_true(java_rule(&unwind));
	called_by_stub_put("nmethod", STACK); /* another method's code */
	assert_false(java_rule(&unwind));
	called_by_stub_put("vtable chunks", STACK + 8); /* as after the last pop */
	assert_false(java_rule(&unwind));
	called_by_stub_put("vtable chunks", STACK);
	memory[COMPILED + 64] = 0x5d; /* pop %rbp */
	unwind_code_rule(&unwind, &unwind.rule);
	assert_false(java_rule(&unwind));
	called_by_stub_put("vtable chunks", STACK);
	put_bytes(COMPILED + 64, "\x41\x50", 2); /* push %r8 */
	unwind_code_rule(&unwind, &unwind.rule);
	assert_false(java_rule(&unwind));
}

TEST(a_frame_of_the_interpreter, machine_make)
{
	set_registers_of_java_frame(LOOP + 8, STACK, STACK + 0x100);
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48 + 19);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_PC], BASE + COMPILED);
	assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 0x140);
	assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x200);
	assert_false(unwind.registers.known >> REGISTER_R14 & 1);
}

TEST(frames_that_are_not_proven, machine_make)
{
	/* The frame's bytecode address lies outside of the method. */
	set_registers_of_java_frame(LOOP + 8, STACK, STACK + 0x100);
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48 + 20);
	assert_false(java_rule(&unwind));
	/* r13 of the interrupted frame lies outside of the method. */
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48);
	unwind.is_interrupted = true;
	unwind.registers.value[REGISTER_R13] = BASE + STACK;
	assert_false(java_rule(&unwind));
	unwind.registers.value[REGISTER_R13] = BASE + CONST + 48 + 1;
	assert_true(java_rule(&unwind));
	/* The frame of the same method has just been left: the caller's rbp and the return address
	 * are the words around rsp. */
	put(STACK - 8, BASE + STACK + 0x100);
	put(STACK, BASE + LOOP + 16);
	assert_false(java_rule(&unwind));
	put(STACK, BASE + STACK);
	assert_true(java_rule(&unwind));
	put(STACK - 8, BASE + STACK + 0x80);
	put(STACK, BASE + LOOP + 16);
	assert_true(java_rule(&unwind));
	/* The return address is behind no call. */
	unwind.is_interrupted = false;
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED + 16, CONST + 48);
	assert_false(java_rule(&unwind));
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED + 16);
	assert_false(java_rule(&unwind));
}

/* --- the interpreter's own code --- */

#define ENTRY (LOOP + 0x40) /* the code that enters METHOD */
#define ENTRY_POPS 16	    /* distances in this code */
#define ENTRY_PUSHES 24

/* An interrupted frame whose method is being entered, with the caller's rbp, rsp and return
 * address. */
static void entered_put(u32 at, u64 rsp, u64 rbp, u64 sender)
{
	machine_make(NULL);
	memset(memory + ENTRY, 0x90, 64);
	put_bytes(ENTRY + ENTRY_POPS, "\x58\x4c\x8d\x74\xcc\xf8\x6a\x00", 8);
	put_bytes(ENTRY + ENTRY_PUSHES, "\x50\x55\x48\x8b\xec\x41\x55", 7);
	put(METHOD + 56, BASE + ENTRY);
	set_registers_of_java_frame(ENTRY + at, rsp, rbp);
	unwind.registers.value[REGISTER_RBX] = BASE + METHOD;
	unwind.registers.value[REGISTER_R13] = BASE + sender;
	unwind.is_interrupted = true;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
}

TEST(methods_that_are_entered, machine_make)
{
	/* the place in the code; words from rsp to the return address, 9: it is in rax */
	static const struct {
		u32 at, words;
	} places[] = {{0, 0},
		      {15, 0},
		      {ENTRY_POPS, 0},
		      {ENTRY_POPS + 1, 9},
		      {ENTRY_PUSHES, 9},
		      {ENTRY_PUSHES + 1, 0},
		      {ENTRY_PUSHES + 2, 1}};

	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		entered_put(places[i].at, STACK, STACK + 0x300, STACK + 0x40);
		unwind.registers.value[REGISTER_RAX] = BASE + (places[i].words == 9 ? COMPILED : 0);
		put(STACK + 8 * (u64)places[i].words, BASE + COMPILED);
		put(STACK, places[i].words == 1 ? BASE + STACK + 0x300 : BASE + COMPILED);
		assert_true(java_rule(&unwind));
		assert_int_equal(unwind.java.method, BASE + METHOD);
		assert_int_equal(unwind.java.is_compiled, 0);
		assert_int_equal(unwind_step(&unwind), STOP_NONE);
		assert_int_equal(unwind.registers.value[REGISTER_PC], BASE + COMPILED);
		assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 0x40);
		assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x300);
	}
}

/* The frame is linked; r13 is the caller's rsp until the word below rbp has it. */
TEST(methods_whose_frame_is_linked, machine_make)
{
	for (u32 words = 0; words < 3; words++) {
		entered_put(ENTRY_PUSHES + 5 + words, STACK + 0x100 - 8 * words, STACK + 0x100,
			    words ? 0 : STACK + 0x140);
		interpreted_put(STACK + 0x100, words ? STACK + 0x140 : 0, COMPILED, 0);
		assert_true(java_rule(&unwind));
		assert_int_equal(unwind_step(&unwind), STOP_NONE);
		assert_int_equal(unwind.registers.value[REGISTER_PC], BASE + COMPILED);
		assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 0x140);
		assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x200);
	}
}

TEST(methods_that_are_not_entered, machine_make)
{
	entered_put(0, STACK, STACK + 0x300, STACK + 0x40);
	put(STACK, BASE + COMPILED);
	assert_true(java_rule(&unwind));
	unwind.registers.value[REGISTER_R13] = BASE + STACK - 8; /* no caller's rsp */
	assert_false(java_rule(&unwind));
	unwind.registers.value[REGISTER_R13] = BASE + STACK + 0x40;
	put(STACK, BASE + COMPILED + 16); /* no return address */
	assert_false(java_rule(&unwind));
	put(STACK, BASE + COMPILED);
	put(METHOD + 56, BASE + ENTRY + 8); /* the pc is not in the method's entry */
	assert_false(java_rule(&unwind));
	put(METHOD + 56, BASE + ENTRY);
	put(ENTRY + ENTRY_PUSHES, 0); /* the code is not that of an entry */
	assert_false(java_rule(&unwind));
	put_bytes(ENTRY + ENTRY_PUSHES, "\x50\x55\x48\x8b\xec", 5);
	unwind.java.layout.method_entry = 0;
	assert_false(java_rule(&unwind));
}

/* The interpreter's codelets: 256 bytes with another name, and the rest with this one. r13 of the
 * frame does not hold the address of a bytecode. */
static void codelets_put(const char *name)
{
	machine_make(NULL);
	put(LOOP, BASE + KIND);
	put(LOOP + 8, 256);
	put(LOOP + 256, BASE + KIND + 64);
	put(LOOP + 256 + 8, 0xf00);
	put_bytes(KIND + 64, name, strlen(name) + 1);
	set_registers_of_java_frame(LOOP + 512, STACK, STACK + 0x100);
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED, CONST + 48 + 19);
	unwind.registers.value[REGISTER_R13] = BASE + STACK + 0x40;
	unwind.is_interrupted = true;
	unwind.rule.flags = RULE_FRAME_POINTER;
}

TEST(frames_that_call_or_are_returned_to, machine_make)
{
	static const char *const names[] = {"invokestatic", "return entry points", "ireturn",
					    "exception handling"};

	for (u32 i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		codelets_put(names[i]);
		assert_int_equal(java_rule(&unwind), i < 2);
		assert_int_equal(unwind.java.method, i < 2 ? BASE + METHOD : 0);
	}
	codelets_put(names[0]);
	put(STACK + 0x100 - 64, BASE + CONST + 48 + 20); /* the frame holds no bytecode's address */
	assert_false(java_rule(&unwind));
	codelets_put(names[0]);
	put(LOOP + 8, 0); /* codelets without end */
	assert_false(java_rule(&unwind));
}

TEST(frames_of_native_methods, machine_make)
{
	codelets_put("any");
	memcpy(memory + CONST + 32, &(u16){0}, 2);
	put(STACK + 0x100 - 64, 0);
	put(METHOD + 56, BASE + LOOP + 256);
	assert_true(java_rule(&unwind));
	put(METHOD + 56, BASE + LOOP + 1024); /* the pc is not in the method's code */
	assert_false(java_rule(&unwind));
}

/* --- stubs --- */

/* An interrupted stub of this kind, which code behind the heap's first block has called. */
static void stub_put(const char *kind, u64 target)
{
	machine_make(NULL);
	put_bytes(KIND, kind, strlen(kind) + 1);
	put(CODE + 4 * 128 + HEADER + 96, BASE + KIND);
	put(CODE + 4 * 128 + HEADER + 28, 0);
	put_bytes(LOOP + 0x1800 - 5, CALL_CODE, 5);
	memcpy(memory + LOOP + 0x1800 - 4, &(s32){target - LOOP - 0x1800}, 4);
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x80);
	unwind.is_interrupted = true;
	unwind.rule.flags = RULE_FRAME_POINTER;
}

TEST(stubs_with_a_frame_pointer, machine_make)
{
	stub_put("StubRoutines", COMPILED - 0x40);
	put(STACK + 0x88, BASE + LOOP + 0x1800);
	put(STACK + 0x80, BASE + STACK + 0x300);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 0x90);
	assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x300);
	stub_put("StubRoutines", METHODS); /* a call of other code */
	put(STACK + 0x88, BASE + LOOP + 0x1800);
	assert_false(java_rule(&unwind));
	/* a call of the address in r10 */
	put_bytes(LOOP + 0x1800 - 13, "\x49\xba", 2);
	put(LOOP + 0x1800 - 11, BASE + COMPILED - 0x40);
	put_bytes(LOOP + 0x1800 - 3, "\x41\xff\xd2", 3);
	assert_true(java_rule(&unwind));
	put(LOOP + 0x1800 - 11, BASE + METHODS);
	put_bytes(LOOP + 0x1800 - 3, "\x41\xff\xd2", 3);
	assert_false(java_rule(&unwind));
	unwind.registers.value[REGISTER_FP] = BASE + STACK - 8;
	assert_false(java_rule(&unwind));
}

/* Adapters make no frame: rbp is that of a caller, which code behind a call of the same block may
 * have called. */
TEST(code_that_makes_no_frame, machine_make)
{
	static const char *const kinds[] = {"I2C/C2I adapters", "InlineCacheBuffer", "StubQueue"};

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		stub_put(kinds[i], COMPILED - 0x40);
		put(STACK, BASE + LOOP + 0x1800);
		put(STACK + 0x88, BASE + LOOP + 0x1800);
		assert_false(java_rule(&unwind));
	}
	stub_put("StubRoutines", COMPILED - 0x40);
	put(STACK + 0x88, BASE + LOOP + 0x1800);
	assert_true(java_rule(&unwind));
	unwind.java.layout.has_names = 0; /* the kind is unknown */
	assert_false(java_rule(&unwind));
}

TEST(stubs_that_jump_to_a_method, machine_make)
{
	stub_put("vtable chunks", COMPILED - 0x40);
	put(STACK, BASE + LOOP + 0x1800);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 8);
	assert_int_equal(unwind.registers.value[REGISTER_FP], BASE + STACK + 0x80);
	stub_put("vtable chunks", COMPILED + 0x40); /* another stub of the block was called */
	put(STACK, BASE + LOOP + 0x1800);
	assert_false(java_rule(&unwind));
	stub_put("MethodHandles adapters", 0);
	put(STACK, BASE + LOOP + 16);
	unwind.registers.value[REGISTER_R13] = BASE + STACK + 0x20;
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_SP], BASE + STACK + 0x20);
	stub_put("MethodHandles adapters", COMPILED);
	put(STACK, BASE + LOOP + 0x1800); /* not the interpreter */
	unwind.registers.value[REGISTER_R13] = BASE + STACK + 0x20;
	assert_false(java_rule(&unwind));
}

/* The return address of the stub that looks for the handler of an exception follows no call. */
TEST(functions_that_have_thrown, machine_make)
{
	static const char *const kinds[] = {"handle_exception Runtime1 stub",
					    "C1 Runtime handle_exception_blob",
					    "C1 Runtime monitorenter_blob"};

	for (u32 i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		stub_put(kinds[i], 0);
		put(CODE + 4 * 128 + HEADER + 28, COMPILED_WORDS);
		unwind.is_interrupted = false;
		memory[SEGMENTS + 14] = 0;
		put(STUB, 1);
		put(STUB + 8, 1);
		put(STUB_BLOB + 96, BASE + KIND + 64);
		put_bytes(KIND + 64, "nmethod", 8);
		put(STACK + 8 * COMPILED_WORDS - 8, BASE + STUB + 64);
		assert_int_equal(java_rule(&unwind), i < 2);
		put_bytes(KIND + 64, "adapter", 8);
		assert_false(java_rule(&unwind));
	}
}

/* The first instructions of compiled functions: the place of the pc, and the words of the frame. */
TEST(the_first_instructions, machine_make)
{
	static const struct {
		const char *code;
		u32 bytes, at, words;
	} places[] = {
		/* the caller's class is compared; a page is touched; the frame is made; a guard */
		{"\x44\x8b\x56\x08\x44\x3b\x50\x08\x0f\x85\x00\x00\x00\x00"
		 "\x55\x48\x83\xec\x20\x41\x83\x7f\x20\x01\x75\x10",
		 27, 4, 1},
		{"\x44\x8b\x56\x08\x44\x3b\x50\x08\x0f\x85\x00\x00\x00\x00"
		 "\x55\x48\x83\xec\x20\x41\x83\x7f\x20\x01\x75\x10",
		 27, 15, 2},
		{"\x55\x48\x83\xec\x20\x41\x83\x7f\x20\x01\x75\x10", 12, 5, COMPILED_WORDS},
		{"\x55\x48\x83\xec\x20\x41\x83\x7f\x20\x01\x75\x10", 12, 10, COMPILED_WORDS},
		{"\x89\x84\x24\x00\xc0\xfe\xff\x48\x83\xec\x18\x48\x89\x6c\x24\x10", 16, 0, 1},
		{"\x89\x84\x24\x00\xc0\xfe\xff\x48\x83\xec\x18\x48\x89\x6c\x24\x10", 16, 11,
		 COMPILED_WORDS},
		/* no frame is made up to the place where it is complete */
		{"\x44\x8b\x56\x08\x44\x3b\x50\x08\x0f\x85\x00\x00\x00\x00", 14, 4, 0},
	};

	for (u32 i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		u64 code = COMPILED + 64;

		machine_make(NULL);
		put(CODE + 4 * 128 + HEADER + 32, BASE + code);
		put(CODE + 4 * 128 + HEADER + 20, places[i].bytes);
		put_bytes(code, places[i].code, places[i].bytes);
		put_bytes(COMPILED - 5, CALL_CODE, 5);
		memcpy(memory + COMPILED - 4, &(s32){code - COMPILED}, 4);
		set_registers_of_java_frame(code + places[i].at, STACK, STACK + 0x200);
		unwind.is_interrupted = true;
		unwind_code_rule(&unwind, &unwind.rule);
		for (u32 word = 0; word < COMPILED_WORDS; word++)
			put(STACK + 8 * word, BASE + COMPILED);
		assert_int_equal(java_rule(&unwind), places[i].words != 0);
		if (places[i].words)
			assert_int_equal(unwind.rule.cfa_offset, 8 * places[i].words);
	}
}

TEST(the_beginning_of_a_stack, machine_make)
{
	set_registers_of_java_frame(LOOP + 0x2000, STACK, STACK + 0x100);
	put(STACK + 0x108, BASE + COMPILED);
	put(STACK + 0x100 - 88, 15);
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind_step(&unwind), STOP_NONE);
	assert_int_equal(unwind.registers.value[REGISTER_PC], BASE + COMPILED);
	assert_int_equal(unwind.registers.value[REGISTER_R15], 15);
}

/* A frame whose return address is the return barrier, which follows no call, in a block with the
 * given name. */
static void barrier_put(const char *kind)
{
	machine_make(NULL);
	put_bytes(KIND, kind, strlen(kind) + 1);
	put(BLOB + 96, BASE + KIND);
	set_registers_of_java_frame(LOOP + 8, STACK, STACK + 0x100);
	unwind.registers.value[REGISTER_R13] = BASE + CONST + 48;
	interpreted_put(STACK + 0x100, STACK + 0x140, COMPILED + 16, CONST + 48);
	put(STACK + 0x208, BASE + LOOP + 0x2000);
}

TEST(frames_of_a_virtual_thread_in_the_heap, machine_make)
{
	static const char *const kinds[] = {"StubRoutines (continuation stubs)",
					    "StubRoutines (continuationstubs)"};

	(void)state;
	for (u32 i = 0; i < 2; i++) {
		barrier_put(kinds[i]);
		unwind_stack(&unwind, 3);
		assert_int_equal(unwind.depth, 3);
		assert_int_equal(unwind.frame[0], BASE + LOOP + 8);
		assert_int_equal(unwind.frame[1], FRAME_OMITTED_SOME);
		assert_int_equal(unwind.frame[2], BASE + LOOP + 0x2000);
		assert_int_equal(unwind.is_guessed, 0);
	}
}

/* The barrier lies in the first block; compiled code of a second block is interrupted. */
TEST(an_interrupted_function_above_the_barrier, machine_make)
{
	barrier_put("StubRoutines (continuation stubs)");
	memory[SEGMENTS + 14] = 0;
	memory[SEGMENTS + 15] = 1;
	put(STUB, 2);
	put(STUB + 8, 1);
	put(STUB_BLOB + 20, 16);
	put(STUB_BLOB + 28, COMPILED_WORDS);
	put(STUB_BLOB + 32, BASE + STUB + 0x90);
	put(STUB_BLOB + 96, BASE + KIND + 64);
	put_bytes(KIND + 64, "nmethod", 8);
	memset(memory + STUB + 0x90, 0x90, 0x60);
	set_registers_of_java_frame(STUB + 0xb0, STACK, STACK + 0x300);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED + 16);
	put(STACK + 8 * COMPILED_WORDS - 16, BASE + STACK + 0x80);
	put(STACK + 0x88, BASE + LOOP + 0x2000);
	unwind_stack(&unwind, 3);
	assert_int_equal(unwind.depth, 3);
	assert_int_equal(unwind.frame[0], BASE + STUB + 0xb0);
	assert_int_equal(unwind.frame[1], FRAME_OMITTED_SOME);
	assert_int_equal(unwind.frame[2], BASE + LOOP + 0x2000);
	assert_int_equal(unwind.is_guessed, 0);
}

TEST(an_interrupted_function_that_returns_to_the_barrier, machine_make)
{
	barrier_put("StubRoutines (continuation stubs)");
	set_registers_of_java_frame(COMPILED + 64, STACK, STACK + 0x200);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED + 16);
	unwind.is_interrupted = true;
	unwind.rule.flags = RULE_FRAME_POINTER;
	assert_true(java_rule(&unwind));
	assert_int_equal(unwind.java.barrier, BASE + COMPILED + 16);
}

TEST(return_addresses_that_are_no_barrier, machine_make)
{
	(void)state;
	barrier_put("StubRoutines (compiler stubs)");
	assert_false(java_rule(&unwind));
	barrier_put("StubRoutines (continuation stubs)");
	unwind.java.layout.has_names = 0;
	assert_false(java_rule(&unwind));
	/* The barrier's own frame is proven by the distance from rsp to rbp and by the caller. */
	barrier_put("StubRoutines (continuation stubs)");
	assert_true(java_rule(&unwind));
	set_registers_of_java_frame(COMPILED + 16, STACK + 0x140, STACK + 0x200);
	assert_true(java_rule(&unwind));
	unwind.registers.value[REGISTER_FP] += 0x100;
	assert_false(java_rule(&unwind));
	unwind.registers.value[REGISTER_FP] -= 0x100;
	put(STACK + 0x208, BASE + KIND);
	assert_false(java_rule(&unwind));
}

/* The data of the virtual machine may be cyclic or point to unmapped memory. */
TEST(forged_machines, machine_make)
{
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + COMPILED);
	memset(memory + SEGMENTS, 1, 32); /* no block begins */
	assert_false(java_rule(&unwind));
	put(ARRAY, ~0ULL); /* heaps without end, none of which has the pc */
	for (u64 at = ARRAY + 16; at < HEAP; at += 8)
		put(at, BASE + HEAP + 0x80);
	unwind.java.is_open = 0;
	assert_false(java_rule(&unwind));
	assert_true(reads < 200);
	machine_make(NULL);
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(CODE + 4 * 128 + HEADER + 28, ~0ULL); /* a frame of 2^32 words */
	assert_false(java_rule(&unwind));
	machine_make(NULL);
	set_registers_of_java_frame(COMPILED, STACK, STACK + 0x200);
	put(HEAPS, 8);
	assert_false(java_rule(&unwind));
}
