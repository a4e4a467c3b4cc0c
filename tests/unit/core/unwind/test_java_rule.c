/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps through frames of OpenJDK's generated code; one array has all data of the virtual machine.
 */
#include <string.h>

#include "unit_test.h"

#define CORE_EMBEDDED
#define UNWIND_READS_JAVA
#include "unwind/unwind.h"

#define BASE 0x10000
#define BYTES 0x8000
#define SHIFT 7
#define HEADER 16

/* Places in the array. */
enum {
	HEAPS = 0x100, /* static words of the file */
	INTERPRETER = 0x108,
	CALL_RETURN = 0x110,
	ARRAY = 0x200,
	HEAP = 0x300,
	QUEUE = 0x500,
	METHOD = 0x600,
	CONST = 0x700,
	SEGMENTS = 0x800,
	POOL = 0x900, /* of constants */
	CLASS = 0xa00,
	TAGS = 0xb80,
	TEXTS = 0xc00, /* 64 bytes each */
	KIND = 0xe00,
	CODE = 0x1000, /* of the heap: 32 segments */
	LOOP = 0x3000, /* code of the interpreter */
	METHODS = 0x4000,
	PLACES = 0x4c00, /* descriptions of addresses */
	SCOPES = 0x4e00,
	STACK = 0x6000,
};

static u8 memory[BYTES];
static struct unwind unwind;
static u64 reads;

bool unwind_read(struct unwind *walk, u64 address, void *buffer, u32 bytes)
{
	(void)walk;
	reads++;
	if (address - BASE > BYTES || BYTES - (address - BASE) < bytes)
		return false;
	memcpy(buffer, memory + (address - BASE), bytes);
	return true;
}

bool unwind_find_mapping(struct unwind *walk, u64 pc)
{
	if (pc - BASE >= BYTES)
		return false;
	walk->mapping = (struct unwind_mapping){.start = BASE, .end = BASE + BYTES};
	return true;
}

static struct java_layout layout = {
	.heaps = HEAPS,
	.interpreter = INTERPRETER,
	.call_return = CALL_RETURN,
	.heap_memory = 8,
	.heap_segments = 120,
	.heap_shift = 256,
	.space_low = 16,
	.space_high = 24,
	.array_data = 8,
	.queue_start = 8,
	.queue_bytes = 20,
	.block_used = 8,
	.block_bytes = HEADER,
	.blob_code = 32,
	.blob_frame = 28,
	.blob_complete = 20,
	.method_const = 8,
	.method_entry = 56,
	.const_count = 32,
	.const_bytes = 48,
	.has_names = 1,
	.class_pool = 232,
	.const_pool = 16,
	.const_name = 34,
	.pool_tags = 8,
	.pool_class = 24,
	.pool_file = 54,
	.pool_count = 60,
	.pool_bytes = 72,
	.tags_data = 4,
	.class_name = 24,
	.blob_name = 96,
	.blob_method = 112,
};

void unwind_java_find(struct unwind *walk)
{
	walk->java.layout = layout;
	walk->java.base = BASE;
	walk->java.is_found = walk->registers.known >> REGISTER_R15 & 1;
}

bool unwind_java_rule(struct unwind *walk)
{
	return java_rule(walk);
}

void unwind_java_name(struct unwind *walk)
{
	java_find_names_of_method(walk);
	java_inlined_find(walk);
	for (u32 i = 0; i < walk->java.inlined; i++)
		walk->java.chain[i] = i + 1;
}

#include "unwind/unwind_alone.c"

#include "unwind/java_rule.c"

#include "unwind/java_name.c"

static void put(u64 at, u64 value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static void put_bytes(u64 at, const char *bytes, u32 count)
{
	memcpy(memory + at, bytes, count);
}

/* The words of the method, with the name in constant 2 of 4 and the file's name in constant 3. */
static void names_make(void)
{
	put(METHOD + 8, BASE + CONST);
	put(CONST + 16, BASE + POOL);
	memcpy(memory + CONST + 34, &(u16){2}, 2);
	put(POOL + 8, BASE + TAGS);
	put(POOL + 24, BASE + CLASS);
	memcpy(memory + POOL + 54, &(u16){3}, 2);
	memcpy(memory + POOL + 60, &(u32){4}, 4);
	memcpy(memory + TAGS + 4, "\0\7\1\1\1", 5);
	for (u32 i = 0; i < 5; i++) {
		put(POOL + 72 + 8 * i, BASE + TEXTS + 64 * i);
		put(TEXTS + 64 * i, 20ULL << 32);
	}
	put(CLASS + 232, BASE + POOL);
	put(CLASS + 24, BASE + TEXTS);
	put_bytes(KIND, "native nmethod", 14);
}

#define CALL_CODE "\xe8\x00\x00\x00\x00"
#define COMPILED (CODE + 4 * 128 + 0x100) /* behind a call */
#define COMPILED_WORDS 6

/* A heap with one block of eight segments from the fourth on, and an interpreter. */
static int machine_make(void **state)
{
	u64 blob = CODE + 4 * 128 + HEADER;

	(void)state;
	memset(memory, 0, sizeof(memory));
	put(HEAPS, BASE + ARRAY);
	put(ARRAY, 1);
	put(ARRAY + 8, BASE + ARRAY + 16);
	put(ARRAY + 16, BASE + HEAP);
	put(HEAP + 8 + 16, BASE + CODE);
	put(HEAP + 8 + 24, BASE + CODE + 32 * 128);
	put(HEAP + 120 + 16, BASE + SEGMENTS);
	put(HEAP + 256, SHIFT);
	memset(memory + SEGMENTS, 0xff, 32);
	for (u32 i = 0; i < 8; i++)
		memory[SEGMENTS + 4 + i] = i;
	put(CODE + 4 * 128, 8);
	put(CODE + 4 * 128 + 8, 1);
	put(blob + 20, 16);
	put(blob + 28, COMPILED_WORDS);
	put(blob + 32, BASE + blob + 0x40);
	put_bytes(COMPILED - 5, CALL_CODE, 5);
	memset(memory + COMPILED, 0x90, 128);
	put(INTERPRETER, BASE + QUEUE);
	put(QUEUE + 8, BASE + LOOP);
	memcpy(memory + QUEUE + 20, &(u32){0x1000}, 4);
	put(CALL_RETURN, BASE + LOOP + 0x2000);
	memcpy(memory + CONST + 32, &(u16){20}, 2);
	names_make();
	memset(&unwind, 0, sizeof(unwind));
	layout.scope_numbers = JAVA_NUMBERS_UNKNOWN;
	unwind.budget = UNWIND_BUDGET;
	unwind.registers.known = REGISTERS_ALL;
	unwind_find_mapping(&unwind, BASE);
	unwind_java_find(&unwind);
	reads = 0;
	return 0;
}

static void set_registers_of_java_frame(u64 pc, u64 rsp, u64 rbp)
{
	unwind.registers.value[REGISTER_PC] = BASE + pc;
	unwind.registers.value[REGISTER_SP] = BASE + rsp;
	unwind.registers.value[REGISTER_FP] = BASE + rbp;
}

/* A frame of the interpreter at rbp, with the return address `pc` and the caller's rsp `sender`. */
static void interpreted_put(u64 rbp, u64 sender, u64 pc, u64 place)
{
	put(rbp + 8, BASE + pc);
	put(rbp, BASE + rbp + 0x100);
	put(rbp - 8, BASE + sender);
	put(rbp - 24, BASE + METHOD);
	put(rbp - 64, BASE + place);
}

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
	called_by_stub_put("StubRoutines (continuation stubs)", STACK);
	put(STACK + 8 * COMPILED_WORDS - 8, BASE + STUB + 0x60); /* the return barrier */
	assert_true(java_rule(&unwind));
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
	put(STACK - 8, BASE + STACK + 0x100); /* a frame of the same method has just been left */
	put(STACK, BASE + LOOP + 16);
	assert_false(java_rule(&unwind));
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
	static const u32 at[] = {0,
				 15,
				 ENTRY_POPS,
				 ENTRY_POPS + 1,
				 ENTRY_PUSHES,
				 ENTRY_PUSHES + 1,
				 ENTRY_PUSHES + 2};
	static const u32 words[] = {0, 0, 0, 9, 9, 0, 1};

	for (u32 i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		entered_put(at[i], STACK, STACK + 0x300, STACK + 0x40);
		unwind.registers.value[REGISTER_RAX] = BASE + (words[i] == 9 ? COMPILED : 0);
		put(STACK + 8 * (u64)words[i], BASE + COMPILED);
		put(STACK, words[i] == 1 ? BASE + STACK + 0x300 : BASE + COMPILED);
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
 * frame is no bytecode's address. */
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
	stub_put("I2C/C2I adapters", COMPILED - 0x40); /* they make no frame: rbp is a caller's */
	put(STACK + 0x88, BASE + LOOP + 0x1800);
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

#define COMPARES_CLASS "\x44\x8b\x56\x08\x44\x3b\x50\x08\x0f\x85\x00\x00\x00\x00"
#define MAKES_FRAME "\x55\x48\x83\xec\x20\x41\x83\x7f\x20\x01\x75\x10"

/* The first instructions of compiled functions: the place of the pc, and the words of the frame. */
TEST(the_first_instructions, machine_make)
{
	static const struct {
		const char *code;
		u32 bytes, at, words;
	} places[] = {
		/* the caller's class is compared; a page is touched; the frame is made; a guard */
		{COMPARES_CLASS MAKES_FRAME, 27, 4, 1},
		{COMPARES_CLASS MAKES_FRAME, 27, 15, 2},
		{MAKES_FRAME, 12, 5, COMPILED_WORDS},
		{MAKES_FRAME, 12, 10, COMPILED_WORDS},
		{"\x89\x84\x24\x00\xc0\xfe\xff\x48\x83\xec\x18\x48\x89\x6c\x24\x10", 16, 0, 1},
		{"\x89\x84\x24\x00\xc0\xfe\xff\x48\x83\xec\x18\x48\x89\x6c\x24\x10", 16, 11,
		 COMPILED_WORDS},
		/* no frame is made up to the place where it is complete */
		{COMPARES_CLASS, 14, 4, 0},
	};

	for (u64 i = 0, code = COMPILED + 64; i < sizeof(places) / sizeof(places[0]); i++) {
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

#define BLOB (CODE + 4 * 128 + HEADER)
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
	unwind_java_find(&unwind);
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
