/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A virtual machine of Java for tests: one array has all its data. */
#ifndef JAVA_MACHINE_H
#define JAVA_MACHINE_H

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

void unwind_find_java_layout(struct unwind *walk)
{
	walk->java.layout = layout;
	walk->java.base = BASE;
	walk->java.is_found = walk->registers.known >> REGISTER_R15 & 1;
}

bool unwind_java_rule(struct unwind *walk)
{
	return java_rule(walk);
}

void unwind_name_java_frame(struct unwind *walk)
{
	java_find_names_of_method(walk);
	java_inlined_find(walk);
	for (u32 i = 0; i < walk->java.inlined; i++)
		walk->java.chain[i] = i + 1;
}

#include "unwind/unwind_alone.c"

#include "unwind/java_rule.c"

#include "unwind/java_name.c"

static inline void put(u64 at, u64 value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static inline void put_bytes(u64 at, const char *bytes, u32 count)
{
	memcpy(memory + at, bytes, count);
}

/* The words of the method, with the name in constant 2 of 4 and the file's name in constant 3. */
static inline void names_make(void)
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
static inline int machine_make(void **state)
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
	put(blob + 28, COMPILED_WORDS);
	put(blob + 20, 16);
	put(blob + 28, COMPILED_WORDS);
	put(blob + 32, BASE + blob + 0x40);
	put_bytes(COMPILED - 5, CALL_CODE, 5);
	memset(memory + COMPILED, 0x90, 128);
	put(INTERPRETER, BASE + QUEUE);
	put(QUEUE + 8, BASE + LOOP);
	memcpy(memory + QUEUE + 20, &(u32){0x1000}, 4);
	put(CALL_RETURN, BASE + LOOP + 0x2000);
	put(METHOD + 8, BASE + CONST);
	memcpy(memory + CONST + 32, &(u16){20}, 2);
	names_make();
	memset(&unwind, 0, sizeof(unwind));
	layout.scope_numbers = JAVA_NUMBERS_UNKNOWN;
	unwind.budget = UNWIND_BUDGET;
	unwind.registers.known = REGISTERS_ALL;
	unwind_find_mapping(&unwind, BASE);
	unwind_find_java_layout(&unwind);
	reads = 0;
	return 0;
}

static inline void set_registers_of_java_frame(u64 pc, u64 rsp, u64 rbp)
{
	unwind.registers.value[REGISTER_PC] = BASE + pc;
	unwind.registers.value[REGISTER_SP] = BASE + rsp;
	unwind.registers.value[REGISTER_FP] = BASE + rbp;
}

/* A frame of the interpreter at rbp, with the return address `pc` and the caller's rsp `sender`. */
static inline void interpreted_put(u64 rbp, u64 sender, u64 pc, u64 place)
{
	put(rbp + 8, BASE + pc);
	put(rbp, BASE + rbp + 0x100);
	put(rbp - 8, BASE + sender);
	put(rbp - 24, BASE + METHOD);
	put(rbp - 64, BASE + place);
}

#define BLOB (CODE + 4 * 128 + HEADER) /* the first block */

#endif
