/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rules for the code that OpenJDK's virtual machine (HotSpot, x86-64; called the machine
 * below) generates. In all generated code r15 holds the address of the machine's object of the
 * thread. The object begins with the address of its table of functions, which belong to the
 * machine's file. The file's layout (abi/script.h) has the addresses of the heaps of code. A heap
 * consists of blocks, and a block of segments. One byte for each segment is the distance to the
 * block's first segment. The object at the begin of a block has the frame size of the block's code,
 * in words.
 *
 *   compiled code   CFA = rsp + 8 * words; the return address and the caller's rbp lie below
 *   interpreter     CFA = rbp + 16; below rbp: the caller's rsp, a word, the method; at rbp - 64
 *                   the instruction of the method
 *   the call of a stack's first function
 *                   CFA = rbp + 16; the saved registers of the machine's C++ code lie below
 *
 * A virtual thread (OpenJDK 21 and later) that goes on after it was suspended has only its
 * innermost frames on the stack. The frames further out stay in an object of Java's heap until a
 * function returns to them. The return address of the outermost frame on the stack is that of a
 * stub of the machine (the return barrier), which copies further frames to the stack. At the
 * barrier rsp is the address of the machine's description of the virtual thread, which lies in the
 * frame of Continuation.enterSpecial(), and rbp is that frame's. One frame stands for the frames in
 * the heap and for enterSpecial() (FRAME_OMITTED_SOME); the walk goes on with the function that
 * runs virtual threads.
 *
 * An interrupted frame may be incomplete. In compiled code the first and the last instructions of a
 * function are recognised by their bytes. In the interpreter r13 holds the address of the current
 * bytecode, which must lie in the method's bytecode: while a frame is made or given back, r13 has
 * another value. All other code has the rule that it would have without the machine's data.
 *
 * Compiled code of a method contains code of functions that the compiler has put into it (inlined
 * functions). The compiler describes some addresses of the code, sorted: all return addresses at
 * which the thread may stop, but not those of most other instructions. A described address leads to
 * a scope, a sequence of numbers: the distance of the scope of the caller (0: none), and the number
 * of the scope's method in an array. So the scopes of an address are the functions that run there,
 * innermost first. Addresses that are not described have no inlined functions here: what the
 * machine itself assumes for them, the scopes of the next described address, may be wrong.
 */
#include "unwind.h"

#ifdef UNWIND_KNOWS_JAVA

#define HEAPS_MAX 8
#define SEGMENT_STEPS_MAX 256
#define SEGMENT_UNUSED 0xff
#define FRAME_WORDS_MIN 2
#define FRAME_WORDS_MAX 8192
#define SENDER_BYTES_MAX (1 << 19) /* the most bytes that the local variables of a method take */
#define COMPLETE_NEVER 0xffff
#define JAVA_COMPILED_KIND 0x00646f6874656d6eULL /* "nmethod" */
#define JAVA_NATIVE_KIND 0x6e2065766974616eULL	 /* the beginning of "native nmethod" */

/* Distances below rbp in a frame of the interpreter. */
#define INTERPRETED_SENDER 8
#define INTERPRETED_METHOD 24
#define INTERPRETED_PLACE 64

CORE_PART bool java_register_is_known(const struct unwind *unwind, u32 reg)
{
	return unwind->registers.known >> reg & 1;
}

CORE_PART bool java_read_word(struct unwind *unwind, u64 address, u64 *word)
{
	return unwind_peek(unwind, address, word, sizeof(*word));
}

/* Reads the words of the virtual machine that are the same for all frames of a stack. */
CORE_PART bool java_read_machine(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;

	if (core_reload(java->is_open))
		return true;
	java->interpreter_bytes = java->heap_count = 0;
	java->is_open =
		java_read_word(unwind, java->base + layout->call_return, &java->call_return) &&
		java_read_word(unwind, java->base + layout->interpreter, &java->word) &&
		java_read_word(unwind, java->word + layout->queue_start, &java->interpreter) &&
		unwind_peek(unwind, java->word + layout->queue_bytes, &java->interpreter_bytes,
			    4) &&
		java_read_word(unwind, java->base + layout->heaps, &java->word) &&
		unwind_peek(unwind, java->word + layout->array_count, &java->heap_count, 4) &&
		java_read_word(unwind, java->word + layout->array_data, &java->heaps);
	return core_reload(java->is_open);
}

/* --- the block of a pc --- */

static long java_check_heap_for_pc(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u64 memory = java->layout.heap_memory, pc = java->code;

	if (i >= java->heap_count || !java_read_word(unwind, java->heaps + 8 * i, &java->word) ||
	    !java_read_word(unwind, java->word + memory + java->layout.space_low, &java->low) ||
	    !java_read_word(unwind, java->word + memory + java->layout.space_high, &java->high))
		return 1;
	java->has_heap = pc - java->low < java->high - java->low;
	return java->has_heap & 1;
}

static long java_step_to_segment_of_block(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u64 distance;

	(void)i;
	if (!unwind_peek(unwind, java->segments + java->segment, &java->byte, 1))
		return 1;
	distance = core_reload(java->byte);
	java->has_block = !distance;
	if (!distance || distance == SEGMENT_UNUSED || distance > java->segment)
		return 1;
	java->segment -= distance;
	return 0;
}

/* Sets java->blob to the object of the block that contains the address java->code. */
CORE_GLOBAL_PART int java_find_code_block(struct unwind *unwind)
{
	const struct java_layout *layout;
	struct java_walk *java;
	u64 pc, block;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	layout = &java->layout;
	pc = java->code;
	java->has_heap = java->has_block = 0;
	core_rare_loop(HEAPS_MAX, java_check_heap_for_pc, &unwind);
	if (!core_reload(java->has_heap) ||
	    !java_read_word(unwind, java->word + layout->heap_segments + layout->space_low,
			    &java->segments) ||
	    !unwind_peek(unwind, java->word + layout->heap_shift, &java->shift, 4))
		return false;
	java->segment = (pc - java->low) >> (java->shift & 31);
	core_rare_loop(SEGMENT_STEPS_MAX, java_step_to_segment_of_block, &unwind);
	if (!core_reload(java->has_block))
		return false;
	block = java->low + (java->segment << (java->shift & 31));
	java->blob = block + layout->block_bytes;
	if (!unwind_peek(unwind, block, &java->half, 4))
		return false;
	java->block_bytes = (u64)core_reload(java->half) << (java->shift & 31);
	return pc - block < java->block_bytes &&
	       unwind_peek(unwind, block + layout->block_used, &java->byte, 1) && java->byte == 1;
}

/* Sets java->kind to the first characters of the name of the block that contains the address.
 * Leaves java->blob as it is. */
CORE_GLOBAL_PART int java_find_kind_of_code(struct unwind *unwind, u64 address)
{
	struct java_walk *java;
	u64 blob, block_bytes;
	bool is_found;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	blob = java->blob;
	block_bytes = java->block_bytes;
	java->code = address;
	is_found = java->layout.has_names && java_find_code_block(unwind) &&
		   java_read_word(unwind, java->blob + java->layout.blob_name, &java->code) &&
		   unwind_peek(unwind, java->code, java->kind, sizeof(java->kind));
	java->blob = blob;
	java->block_bytes = block_bytes;
	return is_found;
}

/* The second and the third word of "StubRoutines (continuation stubs)"; OpenJDK 25 has no space
 * before the last word. */
#define JAVA_STUBS_SECOND 0x6f63282073656e69ULL /* "ines (co" */
#define JAVA_STUBS_THIRD 0x697461756e69746eULL	/* "ntinuati" */

/* True if the address, which follows no call, is that of the return barrier. */
CORE_PART bool java_is_return_barrier(struct unwind *unwind, u64 address)
{
	struct java_walk *java = &unwind->java;

	if (!java_find_kind_of_code(unwind, address) || java->kind[1] != JAVA_STUBS_SECOND ||
	    java->kind[2] != JAVA_STUBS_THIRD)
		return false;
	java->barrier = java->word = address;
	return true;
}

/* --- compiled code --- */

/* Instructions, as little-endian numbers. */
#define JAVA_BYTES_3 0xffffffULL
#define JAVA_ADD_8 0xc48348	/* add an 8-bit constant to rsp */
#define JAVA_ADD_32 0xc48148	/* add a 32-bit constant to rsp */
#define JAVA_SUB_8 0xec8348	/* subtract an 8-bit constant from rsp */
#define JAVA_SUB_32 0xec8148	/* subtract a 32-bit constant from rsp */
#define JAVA_SUB_BYTES 4	/* length of the instruction with the 8-bit constant */
#define JAVA_STORE_RBP 0x6c8948 /* mov %rbp, distance(%rsp) */
#define JAVA_TOUCH 0x248489	/* mov %eax, distance(%rsp): the stack overflow check */
#define JAVA_TOUCH_BYTES 7
#define JAVA_LEA_R10 0x158d4c /* lea distance(%rip), %r10 */
#define JAVA_SET_R10 0x97894d /* mov %r10, distance(%r15) */
#define JAVA_SET_BYTES 7
#define JAVA_COMPARE 0xa73b49 /* cmp distance(%r15), %rsp */
#define JAVA_COMPARE_BYTES 7
#define JAVA_PUSH_RBP 0x55
#define JAVA_POP_RBP 0x5d
#define JAVA_JMP 0xe9
#define JAVA_POP 0x58
#define JAVA_POP_MASK 0xf8
#define JAVA_PUSH 0x50 /* push has the opcodes 0x50 to 0x57, pop 0x58 to 0x5f */
#define JAVA_PUSH_R8 0x5041
#define JAVA_POP_R8 0x5841
#define JAVA_POP_R8_MASK 0xf8ff

#define JAVA_END_BYTES                                                                             \
	14 /* distance from pop %rbp to ret, with a comparison and a jump in between */
#define JAVA_END_NONE 0xff

/*
 * Eight bytes of code from byte `at` of the window around the pc on; the pc is at byte
 * NEAR_CODE_BEFORE.
 */
CORE_PART u64 java_code_bytes_in_window(const struct unwind *unwind, u32 at)
{
	return core_load_u64((const u8 *)unwind->near.word + at);
}

CORE_PART u64 java_code_bytes_after_pc(const struct unwind *unwind, u32 bytes)
{
	return java_code_bytes_in_window(unwind, NEAR_CODE_BEFORE + bytes);
}

CORE_PART u64 java_code_bytes_before_pc(const struct unwind *unwind, u32 bytes)
{
	return java_code_bytes_in_window(unwind, NEAR_CODE_BEFORE - bytes);
}

/* 1 if the two numbers are equal. Branch-free, so that the verifier has one path to follow. */
CORE_PART u32 java_is_equal(u64 a, u64 b)
{
	return is_below(a ^ b, 1);
}

CORE_PART u32 java_is_instruction(u64 code, u64 instruction)
{
	return java_is_equal(code & JAVA_BYTES_3, instruction);
}

/* Sets java->end to `i` if the instructions `i` bytes before the pc give back the frame and restore
 * rbp: add to %rsp, then pop %rbp. */
static long java_match_epilogue(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	u32 at = NEAR_CODE_BEFORE - i, is_end;

	core_one_register(at);
	if (at < NEAR_CODE_BEFORE - JAVA_END_BYTES || at > NEAR_CODE_BEFORE)
		return 1;
	is_end = java_is_equal(java_code_bytes_in_window(unwind, at) & 0xff, JAVA_POP_RBP) &
		 (java_is_instruction(java_code_bytes_in_window(unwind, at - 4), JAVA_ADD_8) |
		  java_is_instruction(java_code_bytes_in_window(unwind, at - 7), JAVA_ADD_32));
	if (is_end)
		unwind->java.end = NEAR_CODE_BEFORE - at;
	return is_end & 1;
}

/*
 * True in the code after a function's end that stores the address of the safepoint poll in the
 * thread's object. The frame is already given back there.
 */
CORE_PART bool java_is_at_safepoint_stub(const struct unwind *unwind)
{
	u64 at = java_code_bytes_after_pc(unwind, 0),
	    next = java_code_bytes_after_pc(unwind, JAVA_SET_BYTES);

	return (java_is_instruction(at, JAVA_LEA_R10) & java_is_instruction(next, JAVA_SET_R10)) |
	       (java_is_instruction(at, JAVA_SET_R10) & java_is_equal(next & 0xff, JAVA_JMP)) |
	       (java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_SET_BYTES),
				    JAVA_SET_R10) &
		java_is_equal(at & 0xff, JAVA_JMP));
}

/* For a pc in the last instructions of a function: sets java->words, and java->slot to the place of
 * the saved rbp. 0: the state of the interrupted frame is unknown. */
CORE_GLOBAL_PART int java_epilogue_state_find(struct unwind *unwind)
{
	struct java_walk *java;
	u32 end;

	if (core_is_null(unwind))
		return 0;
	java = &unwind->java;
	java->end = JAVA_END_NONE;
	core_rare_loop(JAVA_END_BYTES + 1, java_match_epilogue, &unwind);
	end = core_reload(java->end);
	java->slot = 2;
	if (end == JAVA_END_NONE && !java_is_at_safepoint_stub(unwind))
		return 1;
	java->words = 1 + java_is_equal(end, 0);
	java->slot = 2 * java_is_equal(end, 0);
	return end < 2 || end == JAVA_END_NONE ||
	       (end == 1 + JAVA_COMPARE_BYTES &&
		java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_COMPARE_BYTES),
				    JAVA_COMPARE));
}

/*
 * For a pc in the first instructions of a function: sets java->words, and java->slot to the place
 * of the saved rbp. java->words is the complete frame's size at the call. 0: the state of the
 * interrupted frame is unknown.
 */
CORE_GLOBAL_PART int java_prologue_state_find(struct unwind *unwind)
{
	struct java_walk *java;
	u64 at, is_pushed, is_stored, is_called;

	if (core_is_null(unwind))
		return 0;
	java = &unwind->java;
	at = java_code_bytes_after_pc(unwind, 0);
	is_pushed = java_is_equal(java_code_bytes_before_pc(unwind, 1) & 0xff, JAVA_PUSH_RBP) &
		    (java_is_instruction(at, JAVA_SUB_8) | java_is_instruction(at, JAVA_SUB_32));
	is_stored =
		java_is_instruction(at, JAVA_STORE_RBP) &
		java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_SUB_BYTES), JAVA_SUB_8);
	is_called = (java_is_instruction(at, JAVA_TOUCH) &
		     java_is_equal(java_code_bytes_after_pc(unwind, JAVA_TOUCH_BYTES) & 0xff,
				   JAVA_PUSH_RBP)) |
		    (java_is_instruction(at, JAVA_SUB_8) &
		     java_is_instruction(java_code_bytes_after_pc(unwind, JAVA_SUB_BYTES),
					 JAVA_STORE_RBP));
	java->slot = 2 * is_pushed;
	if (!is_stored)
		java->words = 1 + is_pushed;
	return is_pushed | is_stored | is_called;
}

/* Sets java->distance to that of the pc from the first byte of the block's code. */
CORE_PART bool java_code_distance_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 code;

	if (!java_read_word(unwind, java->blob + java->layout.blob_code, &java->word))
		return false;
	code = core_reload(java->word);
	if (java->layout.blob_is_short)
		code = java->blob + (u32)code;
	java->distance = unwind->registers.value[REGISTER_PC] - code;
	return true;
}

/* Sets java->words and java->slot for an interrupted frame. */
CORE_PART bool java_interrupted_state_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	s64 distance;

	if (!java_code_distance_find(unwind) ||
	    !unwind_peek(unwind, java->blob + java->layout.blob_complete, &java->complete, 2))
		return false;
	distance = java->distance;
	if (core_reload(java->complete) == COMPLETE_NEVER || distance < 0)
		return false;
	return distance < java->complete ? java_prologue_state_find(unwind)
					 : java_epilogue_state_find(unwind);
}

/*
 * Adds to java->words the one or two words that a frame has pushed for a call, by the pop
 * instructions after the call. The compiler makes such calls to the machine's check of subtypes.
 */
CORE_PART bool java_count_pushed_words(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 first, second, long_pop, is_pop;

	if (!unwind_peek(unwind, unwind->registers.value[REGISTER_PC], &java->word, 8))
		return false;
	first = core_reload(java->word);
	long_pop = java_is_equal(first & JAVA_POP_R8_MASK, JAVA_POP_R8);
	is_pop = java_is_equal(first & JAVA_POP_MASK, JAVA_POP) &
		 (1 ^ java_is_equal(first & 0xff, JAVA_POP_RBP));
	second = first >> 8 >> 8 * long_pop;
	is_pop |= long_pop;
	java->words += is_pop;
	long_pop = java_is_equal(second & JAVA_POP_R8_MASK, JAVA_POP_R8);
	java->words += is_pop & (long_pop | (java_is_equal(second & JAVA_POP_MASK, JAVA_POP) &
					     (1 ^ java_is_equal(second & 0xff, JAVA_POP_RBP))));
	return true;
}

/* True if the word at an address is a plausible return address: after a call instruction, in the
 * interpreter, which pushes return addresses without a call, after the call of the stack's first
 * function, or the return barrier of a virtual thread. */
CORE_PART bool java_is_return_address(struct unwind *unwind, u64 address)
{
	struct java_walk *java = &unwind->java;
	u64 pc;

	if (!java_read_word(unwind, address, &java->word))
		return false;
	java->other = 0;
	pc = core_reload(java->word);
	return pc == java->call_return || pc - java->interpreter < java->interpreter_bytes ||
	       (unwind_peek(unwind, pc - 8, &java->other, 8) &&
		is_after_call(core_reload(java->other))) ||
	       java_is_return_barrier(unwind, pc);
}

/*
 * For the return address that java_is_return_address() has checked: true if it lies in the
 * interpreter, is the return barrier, or follows a direct call of code in the frame's own block.
 */
CORE_PART bool java_return_follows_own_call(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;

	return java->word - java->interpreter < java->interpreter_bytes ||
	       java->word == java->barrier ||
	       (call_is_direct(java->other) &&
		call_target(java->word, java->other) - java->blob < java->block_bytes);
}

/*
 * Returns true if the same return address follows a direct call of a stub, not of a compiled
 * method. Calls of interfaces, of virtual functions and of method handles go to such stubs, which
 * jump to the method. The stub does not say which method, so further facts must exclude an
 * unrecognised end of the function: the CFA is aligned, which it would not be after the last pop,
 * and the instruction at the pc neither pushes nor pops.
 */
CORE_PART bool java_return_follows_call_of_stub(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 code = java_code_bytes_after_pc(unwind, 0);

	if (!java_is_equal(code & 0xf0, JAVA_PUSH) && !java_is_equal(code & 0xf0ff, JAVA_PUSH_R8) &&
	    !((unwind->registers.value[REGISTER_RSP] + 8 * (u64)java->words) & 15) &&
	    call_is_direct(java->other) &&
	    java_find_kind_of_code(unwind, call_target(java->word, java->other)))
		return java->kind[0] != JAVA_COMPILED_KIND;
	return false;
}

/* Sets java->method if the block is the code of a method. */
CORE_PART void java_blob_method_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 kind;

	if (!java->layout.has_names ||
	    !java_read_word(unwind, java->blob + java->layout.blob_name, &java->word) ||
	    !java_read_word(unwind, java->word, &java->other))
		return;
	kind = core_reload(java->other);
	if ((kind != JAVA_COMPILED_KIND && kind != JAVA_NATIVE_KIND) ||
	    !java_read_word(unwind, java->blob + java->layout.blob_method, &java->method))
		java->method = 0;
	java->is_compiled = 1;
}

CORE_PART bool java_make_compiled_code_rule(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;

	java->code = unwind->registers.value[REGISTER_PC];
	if (!java_find_code_block(unwind))
		return false;
	java_blob_method_find(unwind);
	if (!unwind_peek(unwind, java->blob + java->layout.blob_frame, &java->words, 4) ||
	    core_reload(java->words) - FRAME_WORDS_MIN > FRAME_WORDS_MAX)
		return false;
	java->slot = 2;
	if (!(unwind->is_interrupted ? java_interrupted_state_find(unwind)
				     : java_count_pushed_words(unwind)) ||
	    !java_is_return_address(unwind, unwind->registers.value[REGISTER_RSP] +
						    8 * (u64)java->words - 8))
		return false;
	/* An unrecognised end of a function would yield the caller's caller. */
	if (unwind->is_interrupted && !java_return_follows_own_call(unwind) &&
	    !java_return_follows_call_of_stub(unwind))
		return false;
	unwind->rule = (struct unwind_rule){
		.cfa_register = REGISTER_RSP,
		.cfa_offset = 8 * java->words,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, java->slot, SLOT_LOST, SLOT_LOST, SLOT_LOST, 0, 1},
	};
	return true;
}

/* --- the interpreter --- */

/* True if the frame's current bytecode lies in the bytecode of the frame's method. */
CORE_PART bool java_bytecode_is_in_method(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 frame = unwind->registers.value[REGISTER_RBP], place, first;

	if (!java_read_word(unwind, frame - INTERPRETED_METHOD, &java->word) ||
	    !java_read_word(unwind, java->word + java->layout.method_const, &java->other) ||
	    !unwind_peek(unwind, java->other + java->layout.const_count, &java->complete, 2) ||
	    !java_read_word(unwind, frame - INTERPRETED_PLACE, &java->word))
		return false;
	place = core_reload(java->word);
	if (unwind->is_interrupted) {
		if (!java_register_is_known(unwind, REGISTER_R13))
			return false;
		place = unwind->registers.value[REGISTER_R13];
	}
	first = java->other + java->layout.const_bytes;
	return place - first < java->complete ||
	       (!unwind->is_interrupted && !place && !java->complete);
}

/*
 * The caller's rsp is a word of the frame. A rule can only move the stack by a register, so r14
 * takes that word for this step; the caller does not rely on r14. A call by a method handle removes
 * a word from the caller's stack, so the caller's rsp may be the address of the return address.
 */
CORE_PART bool java_make_interpreter_rule(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 frame = unwind->registers.value[REGISTER_RBP];

	if (!java_register_is_known(unwind, REGISTER_RBP) ||
	    frame < unwind->registers.value[REGISTER_RSP] || !java_bytecode_is_in_method(unwind) ||
	    !java_read_word(unwind, frame - INTERPRETED_SENDER, &java->sender) ||
	    core_reload(java->sender) - (frame + 8) > SENDER_BYTES_MAX ||
	    !java_is_return_address(unwind, frame + 8))
		return false;
	if (!java->layout.has_names ||
	    !java_read_word(unwind, frame - INTERPRETED_METHOD, &java->method))
		java->method = 0;
	java->is_compiled = 0;
	unwind->registers.value[REGISTER_R14] = java->sender;
	unwind->registers.known |= 1U << REGISTER_R14;
	unwind->rule = (struct unwind_rule){
		.cfa_register = REGISTER_RBP,
		.cfa_offset = 16,
		.operand = REGISTER_R14,
		.base = RULE_BASE_CFA,
		.flags = RULE_STACK_MOVED,
		.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, 0, 1},
	};
	return true;
}

CORE_PART void java_make_first_call_rule(struct unwind *unwind)
{
	unwind->rule = (struct unwind_rule){
		.cfa_register = REGISTER_RBP,
		.cfa_offset = 16,
		.base = RULE_BASE_CFA,
		.slot = {9, 2, 10, 11, 12, 13, 1},
	};
}

#define CONTINUATION_BYTES_MAX 256 /* the most bytes of the description of a virtual thread */

CORE_PART bool java_make_barrier_rule(struct unwind *unwind)
{
	u64 frame = unwind->registers.value[REGISTER_RBP];

	if (!java_register_is_known(unwind, REGISTER_RBP) ||
	    frame - unwind->registers.value[REGISTER_RSP] > CONTINUATION_BYTES_MAX ||
	    !java_is_return_address(unwind, frame + 8))
		return false;
	unwind->java.is_omitted = 1;
	unwind->rule = (struct unwind_rule){
		.cfa_register = REGISTER_RBP,
		.cfa_offset = 16,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, 2, SLOT_LOST, SLOT_LOST, SLOT_LOST, 0, 1},
	};
	return true;
}

CORE_SUBPROGRAM bool java_rule(struct unwind *unwind)
{
	const struct java_walk *java;
	u64 pc;

	if (!core_reload(unwind->java.is_found) || !java_read_machine(unwind))
		return false;
	java = &unwind->java;
	pc = unwind->registers.value[REGISTER_PC];
	if (pc == java->call_return && !unwind->is_interrupted) {
		java_make_first_call_rule(unwind);
		return true;
	}
	if (pc == java->barrier && !unwind->is_interrupted)
		return java_make_barrier_rule(unwind);
	return pc - java->interpreter < java->interpreter_bytes
		       ? java_make_interpreter_rule(unwind)
		       : java_make_compiled_code_rule(unwind);
}

/* --- names --- */

#define POOL_TEXT 1 /* the tag of a text in the pool of constants */
#define WORDS_MASK (JAVA_WORDS - 1)

_Static_assert((JAVA_WORDS & WORDS_MASK) == 0, "a mask bounds an index");

/* The number of 16 or more bits at a byte offset in the words java->words_read. */
CORE_PART u64 java_number_at(const struct java_walk *java, u32 offset)
{
	u32 index = offset / 8;

	core_one_register(index);
	return java->words_read[index & WORDS_MASK] >> 8 * (offset & 7);
}

/* Reads memory that leads to a name. A missing page is waited for if java->waits. */
CORE_PART bool java_read_for_name(struct unwind *unwind, u64 address, void *buffer, u32 bytes)
{
	return unwind_peek(unwind, address, buffer, bytes) ||
	       (core_reload(unwind->java.waits) && unwind_read(unwind, address, buffer, bytes));
}

CORE_SUBPROGRAM bool java_read_object_words(struct unwind *unwind, u64 address)
{
	return java_read_for_name(unwind, address, unwind->java.words_read, 8 * JAVA_WORDS);
}

/* Sets *text to the address of the text that has this number in the pool of constants. */
CORE_PART bool java_text_address_find(struct unwind *unwind, u64 number, u64 *text)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;

	return number && number < java->half &&
	       java_read_for_name(unwind, java->tags + layout->tags_data + number, &java->byte,
				  1) &&
	       core_reload(java->byte) == POOL_TEXT &&
	       java_read_for_name(unwind, java->pool + layout->pool_bytes + 8 * number, text, 8);
}

/*
 * Finds the constant part, the pool, the class and the name of java->method, and sets
 * java->complete to the number of the source file's name. The class must lead back to the pool.
 */
CORE_SUBPROGRAM bool java_find_parts_of_method(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;
	u64 number;

	if (java->method & 7 ||
	    !java_read_for_name(unwind, java->method + layout->method_const, &java->constants, 8) ||
	    !java_read_object_words(unwind, java->constants))
		return false;
	java->pool = java_number_at(java, layout->const_pool);
	number = java_number_at(java, layout->const_name) & 0xffff;
	if (!java_read_object_words(unwind, java->pool))
		return false;
	java->holder = java_number_at(java, layout->pool_class);
	java->tags = java_number_at(java, layout->pool_tags);
	java->half = java_number_at(java, layout->pool_count);
	java->complete = java_number_at(java, layout->pool_file);
	return java_read_for_name(unwind, java->holder + layout->class_pool, &java->word, 8) &&
	       core_reload(java->word) == java->pool &&
	       java_text_address_find(unwind, number, &java->name);
}

/* True if all bytes of a text are there. */
CORE_SUBPROGRAM bool java_fault_in_text(struct unwind *unwind, u64 text)
{
	struct java_walk *java = &unwind->java;

	return java_read_for_name(unwind, text, &java->word, 8) &&
	       java_read_for_name(unwind, text + JAVA_TEXT_FROM - 1 + JAVA_TEXT_BYTES(java->word),
				  &java->byte, 1);
}

CORE_SUBPROGRAM bool java_find_method_without_wait(struct unwind *unwind)
{
	unwind->java.waits = 0;
	return java_find_parts_of_method(unwind);
}

CORE_SUBPROGRAM bool java_find_names_of_method(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;

	java->waits = 1;
	if (!java_find_parts_of_method(unwind) ||
	    !java_fault_in_text(unwind, core_reload(java->name)) ||
	    !java_read_for_name(unwind, java->holder + java->layout.class_name, &java->word, 8) ||
	    !java_fault_in_text(unwind, core_reload(java->word)))
		return false;
	if (!core_reload(java->complete) ||
	    !java_text_address_find(unwind, core_reload(java->complete), &java->file) ||
	    !java_fault_in_text(unwind, core_reload(java->file)))
		java->file = 0;
	return core_reload(unwind->budget) != 0;
}

/* --- inlined functions --- */

#define PLACE_STEPS_MAX 24
#define METHODS_MAX 0xffff
#define DIGITS_MAX 5
#define DIGIT_BITS 6
#define DIGIT_GOES_ON(digit) (((digit) + 64) >> 8) /* 1 if another digit follows */

/* Sets the addresses of what the machine knows about the block's code. */
CORE_PART bool java_code_data_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	const struct java_layout *layout = &java->layout;
	u64 from = java->blob, methods = java->blob;

	if (!java_read_word(unwind, java->blob + layout->scope_data, &java->scopes) ||
	    !java_read_word(unwind, java->blob + 4 * (u64)layout->scope_places, &java->word) ||
	    !unwind_peek(unwind, java->blob + 4 * (u64)layout->scope_methods, &java->half, 4))
		return false;
	if (layout->scope_apart) {
		from = core_reload(java->scopes);
		java->scopes = from + (java->word >> 32);
		if (!java_read_word(unwind, java->blob + layout->scope_apart, &java->other))
			return false;
		methods = core_reload(java->other);
	}
	java->methods = methods + core_reload(java->half);
	java->places = from + (u32)java->word;
	java->place_from = 0;
	java->place_end = ((u32)(java->word >> 32) - (u32)java->word) / sizeof(struct java_place);
	return true;
}

/* One step of a binary search for the description of java->distance. */
static long java_compare_place(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u32 middle = (java->place_from + java->place_end) / 2;

	(void)i;
	if (java->place_from >= java->place_end ||
	    !unwind_peek(unwind, java->places + sizeof(java->place) * (u64)middle, &java->place,
			 sizeof(java->place)))
		return 1;
	if (java->place.distance < java->distance) {
		java->place_from = middle + 1;
	} else if (java->place.distance > java->distance) {
		java->place_end = middle;
	} else {
		java->scope = java->place.scope;
		return 1;
	}
	return 0;
}

/* The next number in java->numbers. A number consists of digits of 6 bits, the lowest first. */
CORE_PART u32 java_number_take(struct java_walk *java)
{
	u32 at = java->numbers_at, value = 0, is_digit = 1, count = 0;
	u32 first = is_below(java->layout.scope_numbers ^ JAVA_NUMBERS_FROM_1, 1);
	u64 digits;

	core_one_register(at);
	digits = core_load_u64((const u8 *)java->numbers + (at & 7));
	for (u32 i = 0; i < DIGITS_MAX; i++) {
		u32 digit = digits >> 8 * i & 0xff;

		value += is_digit * ((digit - first) << DIGIT_BITS * i);
		count += is_digit;
		is_digit &= DIGIT_GOES_ON(digit);
	}
	java->numbers_at += count;
	return value;
}

/* Adds the method of the current scope to java->chain, and goes on to the scope of its caller,
 * which lies before it. */
static long java_take_scope(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u32 outer, method;

	core_one_register(i);
	if (i >= JAVA_CHAIN_MAX ||
	    !unwind_peek(unwind, java->scopes + java->scope, java->numbers, 2 * DIGITS_MAX))
		return 1;
	java->numbers_at = 0;
	outer = java_number_take(java);
	method = java_number_take(java) - 1;
	if (outer >= java->scope || method >= METHODS_MAX ||
	    !java_read_word(unwind, java->methods + 8 * (u64)method, &java->word))
		return 1;
	java->chain[i & (JAVA_CHAIN_MAX - 1)] = java->word;
	java->inlined = i;
	java->scope = outer;
	return !outer;
}

CORE_SUBPROGRAM bool java_inlined_find(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	bool is_bad;

	java->inlined = java->scope = 0;
	java->chain[0] = java->method;
	if (!java->is_compiled || !java->layout.scope_numbers)
		return true;
	if (!java_code_distance_find(unwind) || !java_code_data_find(unwind))
		return false;
	core_rare_loop(PLACE_STEPS_MAX, java_compare_place, &unwind);
	if (!core_reload(java->scope))
		return true;
	core_rare_loop(JAVA_CHAIN_MAX, java_take_scope, &unwind);
	/* The outermost scope must be that of the method which the block has code of. */
	is_bad = core_reload(java->scope) ||
		 java->chain[core_reload(java->inlined) & (JAVA_CHAIN_MAX - 1)] != java->method;
	if (is_bad) {
		java->inlined = 0;
		java->chain[0] = java->method;
	}
	return !is_bad;
}

#endif
