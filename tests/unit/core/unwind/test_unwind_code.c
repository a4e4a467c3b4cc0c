/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules of code without tables, made from its bytes. */
#include "unwind_memory.h"

#include <string.h>

#include "unit_test.h"

static struct unwind unwind;
static const struct unwind_rule *const rule = &unwind.rule;

/* The rule at `offset` of some code, with enough room before and behind it. */
static void rule_at(const u8 *bytes, u32 count, u32 offset, bool is_interrupted, bool is_compat)
{
	static u8 memory[96];

	memset(memory, 0x90, sizeof(memory));
	memcpy(memory + 16, bytes, count);
	memory_set(&unwind, memory, sizeof(memory));
	unwind.is_interrupted = is_interrupted;
	unwind.is_compat = is_compat;
	unwind_find_mapping(&unwind, MEMORY_BASE);
	unwind.mapping.image = MEMORY_BASE;
	unwind.registers.value[REGISTER_RIP] = MEMORY_BASE + 16 + offset;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
}

static void assert_stack_pointer(u32 offset, u8 rbp_slot)
{
	assert_int_equal(rule->cfa_kind, CFA_REGISTER);
	assert_int_equal(rule->cfa_register, REGISTER_RSP);
	assert_int_equal(rule->cfa_offset, offset);
	assert_int_equal(rule->slot[SLOT_RBP], rbp_slot);
	assert_int_equal(rule->slot[SLOT_RBX], 0);
	assert_int_equal(rule->slot[SLOT_RETURN], 1);
	assert_int_equal(rule->flags, 0);
}

static void assert_frame_pointer(u32 word, u32 flags)
{
	assert_int_equal(rule->cfa_register, REGISTER_RBP);
	assert_int_equal(rule->cfa_offset, 2 * word);
	assert_int_equal(rule->slot[SLOT_RBP], 2);
	assert_int_equal(rule->slot[SLOT_RBX], SLOT_LOST);
	assert_int_equal(rule->flags, RULE_FRAME_POINTER | flags);
}

TEST(stubs_of_the_linkage_table)
{
	static const u8 plt0[] = {0xff, 0x35, 1, 2, 3, 4, 0xff, 0x25, 1, 2, 3, 4};
	static const u8 plt[] = {0xff, 0x25, 1, 2, 3, 4, 0x68, 1, 0, 0, 0, 0xe9, 1, 2, 3, 4};
	static const u8 tracked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0,
				     0,	   0xf2, 0xe9, 1,    2,	   3, 4};
	static const u8 second[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4};

	rule_at(plt0, sizeof(plt0), 0, true, false);
	assert_stack_pointer(16, 0);
	rule_at(plt0, sizeof(plt0), 6, true, false);
	assert_stack_pointer(24, 0);
	rule_at(plt, sizeof(plt), 0, true, false);
	assert_stack_pointer(8, 0);
	rule_at(plt, sizeof(plt), 6, true, false);
	assert_stack_pointer(8, 0);
	rule_at(plt, sizeof(plt), 11, true, false);
	assert_stack_pointer(16, 0);
	for (u32 offset = 0; offset <= 4; offset += 4) {
		rule_at(tracked, sizeof(tracked), offset, true, false);
		assert_stack_pointer(8, 0);
		rule_at(second, sizeof(second), offset, true, false);
		assert_stack_pointer(8, 0);
	}
	rule_at(tracked, sizeof(tracked), 9, true, false);
	assert_stack_pointer(16, 0);
}

/* Parent and child return from clone() to the same instruction. */
TEST(returns_from_clone)
{
	static const u8 clone[] = {0x0f, 0x05, 0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc3};

	rule_at(clone, sizeof(clone), 2, true, false);
	assert_int_equal(rule->flags, RULE_OUTERMOST);
	assert_int_equal(unwind.code_seen, CODE_UNREADABLE);
	unwind.registers.value[REGISTER_RAX] = 4711;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_stack_pointer(8, 0);
	assert_int_equal(unwind.code_seen, CODE_UNREADABLE);
}

TEST(edges_of_functions)
{
	static const u8 function[] = {0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3};
	static const u8 function_32[] = {0x55, 0x89, 0xe5, 0x90, 0x5d, 0xc3};
	static const u8 thunk[] = {0x8b, 0x1c, 0x24, 0xc3};

	rule_at(function, sizeof(function), 0, true, false);
	assert_stack_pointer(8, 0);
	rule_at(function, sizeof(function), 1, true, false);
	assert_stack_pointer(16, 2);
	unwind.mapping.start = unwind.registers.value[REGISTER_RIP] - 1;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_stack_pointer(16, 2);
	unwind.mapping.start = unwind.registers.value[REGISTER_RIP];
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_frame_pointer(8, 0);
	rule_at(function, sizeof(function), 4, true, false);
	assert_frame_pointer(8, 0);
	rule_at(function, sizeof(function), 6, true, false);
	assert_stack_pointer(8, 0);
	rule_at(function_32, sizeof(function_32), 1, true, true);
	assert_stack_pointer(8, 2);
	rule_at(function_32, sizeof(function_32), 3, true, true);
	assert_frame_pointer(4, 0);
	rule_at(thunk, sizeof(thunk), 0, true, true);
	assert_stack_pointer(4, 0);
}

TEST(callers_have_their_frame)
{
	static const u8 call[] = {0xe8, 1, 2, 3, 4};
	static const u8 init[] = {0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	/* add $16, %rsp; pop %rbp; pop %r12; ret */
	static const u8 epilogue[] = {0x48, 0x83, 0xc4, 0x10, 0x5d, 0x41, 0x5c, 0xc3};

	rule_at(call, sizeof(call), 5, false, false);
	assert_frame_pointer(8, 0);
	rule_at(init, sizeof(init), 2, false, false);
	assert_stack_pointer(16, 0);
	rule_at(epilogue, sizeof(epilogue), 0, false, false);
	assert_int_equal(rule->slot[SLOT_R12], 2);
	assert_stack_pointer(40, 3);
}

/* call *%r12; mov $111, %edi; mov $60, %eax; syscall */
TEST(threads_end_after_the_call_of_their_function)
{
	static const u8 clone[] = {0x41, 0xff, 0xd4, 0xbf, 0x6f, 0,    0,   0,
				   0xb8, 0x3c, 0,    0,	   0,	 0x0f, 0x05};

	rule_at(clone, sizeof(clone), 3, false, false);
	assert_int_equal(rule->flags, RULE_OUTERMOST);
	rule_at(clone, sizeof(clone), 3, true, false);
	assert_int_not_equal(rule->flags, RULE_OUTERMOST);
}

/* A frame pointer of 0 ends a stack in such code only. */
TEST(code_where_stacks_begin)
{
	/* xor %rbp, %rbp; mov %rsp, %rdi; lea (%rip), %rsi; and $-16, %rsp; call */
	static const u8 start[] = {0x48, 0x31, 0xed, 0x48, 0x89, 0xe7, 0x48, 0x8d, 0x35, 1, 2,
				   3,	 4,    0x48, 0x83, 0xe4, 0xf0, 0xe8, 1,	   2,	 3, 4};
	/* xor %ebp, %ebp; pop %rdi; call *%r9 */
	static const u8 clone[] = {0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1};
	/* mov %rsp, %rdi; call: the dynamic linker */
	static const u8 linker[] = {0x48, 0x89, 0xe7, 0xe8, 1, 2, 3, 4, 0x49, 0x89, 0xc4};
	static const u8 calls[][6] = {
		{0, 0xe8, 1, 2, 3, 4},	     {0, 0, 0, 0, 0xff, 0xd0}, {0, 0, 0, 0xff, 0x50, 8},
		{0, 0, 0xff, 0x54, 0x24, 8}, {0xff, 0x15, 1, 2, 3, 4}, {0xff, 0x93, 1, 2, 3, 4},
		{0, 0, 0, 0x41, 0xff, 0xd4},
	};
	/* nop; call: goexit, the return address of a goroutine's first function */
	static const u8 goexit[] = {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x90, 0xe8, 1, 2, 3, 4};

	rule_at(start, sizeof(start), sizeof(start), false, false);
	assert_frame_pointer(8, RULE_ENTRY);
	unwind.mapping.start = unwind.registers.value[REGISTER_RIP] - sizeof(start);
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_frame_pointer(8, RULE_ENTRY);
	rule_at(start + 3, sizeof(start) - 3, sizeof(start) - 3, false, false);
	assert_frame_pointer(8, 0);
	rule_at(clone, sizeof(clone), sizeof(clone), false, false);
	assert_frame_pointer(8, RULE_ENTRY);
	rule_at(clone, sizeof(clone), 0, true, false);
	assert_frame_pointer(8, RULE_ENTRY);
	rule_at(linker, sizeof(linker), 0, true, false);
	assert_frame_pointer(8, RULE_ENTRY);
	rule_at(linker, sizeof(linker), 3, true, false);
	assert_frame_pointer(8, RULE_ENTRY);
	rule_at(linker, sizeof(linker), 8, false, false);
	assert_frame_pointer(8, RULE_ENTRY);
	for (u32 i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		rule_at(calls[i], sizeof(calls[i]), sizeof(calls[i]), false, false);
		assert_frame_pointer(8, 0);
	}
	rule_at(goexit, sizeof(goexit), 6, false, false);
	assert_frame_pointer(8, RULE_ENTRY | RULE_UNCALLED);
	rule_at(goexit, sizeof(goexit), 6, true, false);
	assert_frame_pointer(8, 0);
}

/* 32-bit libraries use ebp for other values than frame pointers, so a 0 in it is no proof of the
 * end. */
TEST(code_where_32_bit_stacks_begin)
{
	/* push; call; hlt: _start, which has cleared ebp 39 bytes earlier */
	static const u8 start[] = {0xff, 0xb3, 0xf8, 0xff, 0xff, 0xff, 0xe8, 1, 2, 3, 4, 0xf4};
	/* xor %ebp, %ebp; and $-16, %esp; sub $12, %esp; push %esi; call *%edx: clone3() */
	static const u8 clone[] = {0x31, 0xed, 0x83, 0xe4, 0xf0, 0x83,
				   0xec, 0x0c, 0x56, 0xff, 0xd2};
	/* push %eax; call; add $16, %esp; mov %eax, %edi: the dynamic linker */
	static const u8 linker[] = {0x50, 0xe8, 1, 2, 3, 4, 0x83, 0xc4, 0x10, 0x89, 0xc7};
	/* call; add $16, %esp; sub $12, %esp: a function that calls main() */
	static const u8 other[] = {0xe8, 1, 2, 3, 4, 0x83, 0xc4, 0x10, 0x83, 0xec, 0x0c};

	rule_at(start, sizeof(start), sizeof(start) - 1, false, true);
	assert_frame_pointer(4, RULE_ENTRY);
	rule_at(start, sizeof(start), sizeof(start) - 1, true, true);
	assert_frame_pointer(4, 0);
	rule_at(start + 6, sizeof(start) - 6, 2, false, true);
	assert_frame_pointer(4, 0);
	rule_at(clone, sizeof(clone), sizeof(clone), false, true);
	assert_frame_pointer(4, RULE_ENTRY);
	rule_at(linker, sizeof(linker), 6, false, true);
	assert_frame_pointer(4, RULE_ENTRY);
	rule_at(other, sizeof(other), 5, false, true);
	assert_frame_pointer(4, 0);
}

/* All instructions of _init as crti.o and crtn.o make it. */
TEST(start_up_code)
{
	static const u8 init[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0x48,
				  0x8b, 0x05, 1,    2,	  3,	4,    0x48, 0x85, 0xc0,
				  0x74, 0x02, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	static const u8 inside[] = {8, 15, 18, 20, 22};
	/* test %rax, %rax; je; jmp *%rax */
	static const u8 tail[] = {0x48, 0x85, 0xc0, 0x74, 0x08, 0xff, 0xe0};
	/* jmp *%rax, from within a switch */
	static const u8 table[] = {0x48, 0x01, 0xd0, 0xff, 0xe0};

	static const u8 dummy[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 1, 2, 3, 4};

	for (u32 offset = 0; offset <= 4; offset += 4) {
		rule_at(dummy, sizeof(dummy), offset, true, false);
		assert_stack_pointer(8, 0);
	}
	rule_at(init, sizeof(init), 0, true, false);
	assert_stack_pointer(8, 0);
	rule_at(init, sizeof(init), 4, true, false);
	assert_stack_pointer(8, 0);
	for (u32 i = 0; i < sizeof(inside); i++) {
		rule_at(init, sizeof(init), inside[i], true, false);
		assert_stack_pointer(16, 0);
	}
	rule_at(init, sizeof(init), 26, true, false);
	assert_stack_pointer(8, 0);
	rule_at(tail, sizeof(tail), 0, true, false);
	assert_stack_pointer(8, 0);
	rule_at(table, sizeof(table), 0, true, false);
	assert_frame_pointer(8, 0);
}

/* __do_global_dtors_aux of crtbeginS.o: a conditional jump over a frame that comes and goes. */
TEST(exit_code)
{
	static const u8 code[] = {
		0x80, 0x3d, 1,	  2, 3, 4, 0,	 /* cmpb $0, (%rip) */
		0x75, 0x2b,			 /* jne */
		0x55,				 /* push %rbp */
		0x48, 0x83, 0x3d, 1, 2, 3, 4, 0, /* cmpq $0, (%rip) */
		0x48, 0x89, 0xe5,		 /* mov %rsp, %rbp */
		0x74, 0x0c,			 /* je */
		0x48, 0x8b, 0x3d, 1, 2, 3, 4,	 /* mov (%rip), %rdi */
		0xe8, 1,    2,	  3, 4,		 /* call */
		0xc6, 0x05, 1,	  2, 3, 4, 1,	 /* movb $1, (%rip) */
		0x5d, 0xc3			 /* pop %rbp; ret */
	};
	static const u8 before[] = {0, 7, 9}, inside[] = {10, 18, 21, 23, 30, 35, 42};

	for (u32 i = 0; i < sizeof(before); i++) {
		rule_at(code, sizeof(code), before[i], true, false);
		assert_stack_pointer(8, 0);
	}
	for (u32 i = 0; i < sizeof(inside); i++) {
		rule_at(code, sizeof(code), inside[i], true, false);
		assert_stack_pointer(16, 2);
	}
	rule_at(code, sizeof(code), 43, true, false);
	assert_stack_pointer(8, 0);
}

TEST(trampolines_without_tables)
{
	static const u8 long_form[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const u8 short_form[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const u8 vdso_32[] = {0xcd, 0x80, 0x5d, 0x5a, 0x59, 0xc3};

	rule_at(long_form, sizeof(long_form), 0, false, false);
	assert_int_equal(rule->cfa_kind, CFA_SIGNAL);
	assert_int_equal(rule->flags, RULE_SIGNAL);
	rule_at(long_form, sizeof(long_form), 9, true, false);
	assert_int_equal(rule->cfa_kind, CFA_SIGNAL);
	rule_at(short_form, sizeof(short_form), 0, false, false);
	assert_int_equal(rule->cfa_kind, CFA_SIGNAL);
	rule_at(vdso_32, sizeof(vdso_32), 2, true, true);
	assert_stack_pointer(16, 4);
}

/* A process may cut its mapping anywhere, and the hidden bytes may change the meaning of the code.
 */
TEST(code_that_is_cut_off_gives_no_rule)
{
	u8 code[8 + 10 + 1];
	u64 pc;

	memset(code, 0x58, sizeof(code)); /* pop %rax */
	code[18] = 0xc3;		  /* ret */
	rule_at(code, sizeof(code), 8, true, false);
	assert_stack_pointer(88, 0);
	assert_int_not_equal(unwind.code_seen, CODE_UNREADABLE);
	pc = unwind.registers.value[REGISTER_RIP];
	for (u32 bytes = 1; bytes <= 24; bytes++) {
		unwind.mapping.end = pc + bytes;
		assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
		assert_int_equal(unwind.code_seen != CODE_UNREADABLE, bytes >= 10 + 8);
	}
	unwind.mapping.start = pc - NEAR_CODE_BEFORE + 1;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_int_equal(unwind.code_seen, CODE_UNREADABLE);
}

/* The next page is absent: the bytes on this page may be enough. */
TEST(code_at_the_end_of_available_memory)
{
	static u8 code[80] = {[24] = 0xc3};

	memory_set(&unwind, code, 32);
	unwind.mapping = (struct unwind_mapping){MEMORY_BASE, MEMORY_BASE + 200, MEMORY_BASE};
	unwind.registers.value[REGISTER_RIP] = MEMORY_BASE + 24;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_NONE);
	assert_stack_pointer(8, 0);
	memory_set(&unwind, code, 31);
	unwind.mapping = (struct unwind_mapping){MEMORY_BASE, MEMORY_BASE + 200, MEMORY_BASE};
	unwind.registers.value[REGISTER_RIP] = MEMORY_BASE + 24;
	assert_int_equal(unwind_code_rule(&unwind, &unwind.rule), STOP_TABLE_UNREADABLE);
}
