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
 * another value. While a method is entered, rbx holds its address, and the method has the address
 * of the interpreter's code that enters it. Until the frame is linked, r13 is the caller's rsp.
 * While the interpreter calls or returns to a frame, r13 has any value, but the frame is complete
 * and holds the bytecode's address itself. The interpreter consists of parts (codelets), whose
 * names say which part calls and which one is returned to.
 *
 * The machine's routines keep a frame pointer and have no size of a frame. The return address above
 * rbp proves the frame if it follows a direct call of the stub's own block. Stubs that jump to a
 * method have no frame. All other code has the rule that it would have without the machine's data.
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
/* The beginnings of names, as little-endian numbers. */
#define JAVA_COMPILED_KIND 0x00646f6874656d6eULL  /* "nmethod" */
#define JAVA_NATIVE_KIND 0x6e2065766974616eULL	  /* "native n" of "native nmethod" */
#define JAVA_VIRTUAL_KIND 0x6320656c62617476ULL	  /* "vtable c" of "vtable chunks" */
#define JAVA_HANDLE_KIND 0x6148646f6874654dULL	  /* "MethodHa" of "MethodHandles adapters" */
#define JAVA_STUBS_KIND 0x74756f5262757453ULL	  /* "StubRout" of "StubRoutines ..." */
#define JAVA_EXCEPTION_KIND 0x655f656c646e6168ULL /* "handle_e" of "handle_exception ..." */
/* the third word of "C1 Runtime handle_exception_blob" (OpenJDK 25) */
#define JAVA_EXCEPTION_THIRD 0x7470656378655f65ULL /* "e_except" */
#define JAVA_INVOKE_CODELET 0x656b6f766e69ULL	   /* "invoke" */
#define JAVA_INVOKE_MASK 0xffffffffffffULL
#define JAVA_RETURN_CODELET 0x65206e7275746572ULL /* "return e" of "return entry points" */

#define STUB_FRAME_MAX 4096 /* the most bytes of a stub's frame */
#define STUB_CODE_MAX 1024  /* the most bytes of a stub that jumps to a method */
#define CODELETS_MAX 512

#define ENTRY_BYTES_MAX 192	    /* the most bytes of code up to the link of a frame */
#define NATIVE_ENTRY_BYTES_MAX 4096 /* the most bytes of the code that runs native methods */
#define ENTRY_POP 0xf8cc748d4c58ULL /* pop %rax; lea -8(%rsp,%rcx,8), %r14 */
#define ENTRY_POP_MASK 0xffffffffffffULL
#define ENTRY_PUSH 0xec8b485550ULL /* push %rax; push %rbp; mov %rsp, %rbp */
#define ENTRY_PUSH_MASK 0xffffffffffULL

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
CORE_PART bool java_find_kind_of_code(struct unwind *unwind, u64 address)
{
	struct java_walk *java = &unwind->java;
	u64 blob = java->blob, block_bytes = java->block_bytes;
	bool is_found;

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

/* --- compiled code --- */

/* Instructions, as little-endian numbers. */
#define JAVA_BYTES_3 0xffffffULL
#define JAVA_ADD_8 0xc48348	/* add an 8-bit constant to rsp */
#define JAVA_ADD_32 0xc48148	/* add a 32-bit constant to rsp */
#define JAVA_SUB_8 0xec8348	/* subtract an 8-bit constant from rsp */
#define JAVA_SUB_32 0xec8148	/* subtract a 32-bit constant from rsp */
#define JAVA_SUB_BYTES 4	/* length of the instruction with the 8-bit constant */
#define JAVA_STORE_RBP 0x6c8948 /* mov %rbp, distance(%rsp) */
#define JAVA_LEA_R10 0x158d4c	/* lea distance(%rip), %r10 */
#define JAVA_SET_R10 0x97894d	/* mov %r10, distance(%r15) */
#define JAVA_SET_BYTES 7
#define JAVA_COMPARE 0xa73b49 /* cmp distance(%r15), %rsp */
#define JAVA_COMPARE_BYTES 7
#define JAVA_COMPARE_8 0x673b49 /* the same with a distance of 8 bits */
#define JAVA_COMPARE_8_BYTES 4
#define JAVA_CALL_R10 0xd2ff41 /* call *%r10 */
#define JAVA_MOVABS_R10 0xba49 /* movabs $address, %r10 */
#define JAVA_GUARD 0x7f8341    /* cmpl $number, distance(%r15): is the code still valid? */
#define JAVA_GUARD_BYTES 5
#define JAVA_GUARD_32 0x7f8141 /* the same with a number of 32 bits */
#define JAVA_GUARD_32_BYTES 8
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
#define JAVA_PROLOGUE_BYTES 80 /* the most bytes of code before a frame is made */

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
				    JAVA_COMPARE)) ||
	       (end == 1 + JAVA_COMPARE_8_BYTES &&
		java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_COMPARE_8_BYTES),
				    JAVA_COMPARE_8));
}

/* Sets java->end to `i` if the instructions that make the frame begin `i` bytes after the pc. */
static long java_match_prologue(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	u32 at = NEAR_CODE_BEFORE + i;
	u64 code, next;

	core_one_register(at);
	if (at > NEAR_CODE_BYTES - 16)
		return 1;
	code = java_code_bytes_in_window(unwind, at);
	next = java_code_bytes_in_window(unwind, at + JAVA_SUB_BYTES);
	if ((java_is_equal(code & 0xff, JAVA_PUSH_RBP) &
	     (java_is_instruction(code >> 8, JAVA_SUB_8) |
	      java_is_instruction(code >> 8, JAVA_SUB_32))) |
	    (java_is_instruction(code, JAVA_SUB_8) & java_is_instruction(next, JAVA_STORE_RBP))) {
		unwind->java.end = i;
		return 1;
	}
	return 0;
}

/*
 * For a pc in the first instructions of a function: sets java->words, and java->slot to the place
 * of the saved rbp. java->words is the complete frame's size at the call. 0: the state of the
 * interrupted frame is unknown.
 */
CORE_GLOBAL_PART int java_prologue_state_find(struct unwind *unwind)
{
	struct java_walk *java;
	u64 at, is_pushed, is_stored, is_guarded;
	u32 left, end;

	if (core_is_null(unwind))
		return 0;
	java = &unwind->java;
	at = java_code_bytes_after_pc(unwind, 0);
	is_pushed = java_is_equal(java_code_bytes_before_pc(unwind, 1) & 0xff, JAVA_PUSH_RBP) &
		    (java_is_instruction(at, JAVA_SUB_8) | java_is_instruction(at, JAVA_SUB_32));
	is_stored =
		java_is_instruction(at, JAVA_STORE_RBP) &
		java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_SUB_BYTES), JAVA_SUB_8);
	is_guarded = java_is_instruction(at, JAVA_GUARD) | java_is_instruction(at, JAVA_GUARD_32) |
		     java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_GUARD_BYTES),
					 JAVA_GUARD) |
		     java_is_instruction(java_code_bytes_before_pc(unwind, JAVA_GUARD_32_BYTES),
					 JAVA_GUARD_32);
	if (is_guarded)
		return 1;
	java->slot = 2 * is_pushed;
	if (is_pushed)
		java->words = 2;
	if (is_pushed | is_stored)
		return 1;
	/* The caller's class is checked, and the end of the stack, before the frame is made. */
	left = java->complete - java->distance;
	java->end = JAVA_END_NONE;
	core_rare_loop(JAVA_PROLOGUE_BYTES, java_match_prologue, &unwind);
	end = core_reload(java->end);
	java->words = 1;
	return end < left;
}

/* Sets java->distance to the distance of the pc from the first byte of the block's code. */
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

/* --- the return address --- */

/*
 * True if the word at java->return_at, or java->word if that is 0, is a plausible return address:
 * after a call instruction, in the interpreter, which pushes return addresses without a call, after
 * the call of the stack's first function, or the return barrier of a virtual thread. The stub that
 * looks for the handler of an exception returns to the instruction of a compiled method that has
 * thrown. Sets java->word to the address, and java->other to the code before it.
 */
CORE_GLOBAL_PART int java_is_return_address(struct unwind *unwind)
{
	struct java_walk *java;
	u64 pc;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	java->other = 0;
	if (java->return_at && !java_read_word(unwind, java->return_at, &java->word))
		return false;
	pc = core_reload(java->word);
	if (pc == java->call_return || pc - java->interpreter < java->interpreter_bytes ||
	    (unwind_peek(unwind, pc - 8, &java->other, 8) &&
	     is_after_call(core_reload(java->other))))
		return true;
	if (!java_find_kind_of_code(unwind, pc))
		return false;
	java->word = pc; /* the search has used the word */
	if (java->is_thrower)
		return java->kind[0] == JAVA_COMPILED_KIND;
	if (java->kind[1] != JAVA_STUBS_SECOND || java->kind[2] != JAVA_STUBS_THIRD)
		return false;
	java->barrier = pc;
	return true;
}

/* A further condition for a frame's return address. */
enum java_proof {
	JAVA_PROOF_NONE,
	JAVA_PROOF_OWN,	  /* an interrupted function was called by the return address's code */
	JAVA_PROOF_BLOCK, /* the address follows a direct call of the frame's own block */
	JAVA_PROOF_NEAR,  /* the same, of an instruction that is shortly before the pc */
	JAVA_PROOF_LOOP,  /* the address is in the interpreter */
};

CORE_PART bool java_returns_to_interpreter(const struct java_walk *java)
{
	return java->word - java->interpreter < java->interpreter_bytes;
}

/*
 * Sets java->code to the address that the call before the return address has called: directly, or
 * by `movabs $address, %r10; call *%r10`. 0: unknown.
 */
CORE_GLOBAL_PART int java_call_target_find(struct unwind *unwind)
{
	struct java_walk *java;
	u64 first;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	java->code = 0;
	if (call_is_direct(java->other)) {
		java->code = call_target(java->word, java->other);
	} else if (java->other >> 40 == JAVA_CALL_R10 &&
		   unwind_peek(unwind, java->word - 16, java->kind, 16)) {
		first = core_reload(java->kind[0]);
		if ((first >> 24 & 0xffff) == JAVA_MOVABS_R10)
			java->code = first >> 40 | java->kind[1] << 24;
	}
	return java->code != 0;
}

/*
 * Returns true if the return address follows a direct call of a stub, not of a compiled method.
 * Calls of interfaces, of virtual functions and of method handles go to such stubs, which jump to
 * the method. The stub does not say which method, so further facts must exclude an unrecognised end
 * of the function: the CFA is aligned, which it would not be after the last pop, and the
 * instruction at the pc neither pushes nor pops.
 */
CORE_PART bool java_return_follows_call_of_stub(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 code = java_code_bytes_after_pc(unwind, 0);

	if (!java_is_equal(code & 0xf0, JAVA_PUSH) && !java_is_equal(code & 0xf0ff, JAVA_PUSH_R8) &&
	    !((unwind->registers.value[REGISTER_RSP] + 8 * (u64)java->words) & 15) &&
	    java_find_kind_of_code(unwind, java->code))
		return java->kind[0] != JAVA_COMPILED_KIND;
	return false;
}

/* An unrecognised end of a function would yield the caller's caller. */
CORE_GLOBAL_PART int java_is_return_proven(struct unwind *unwind)
{
	const struct java_walk *java;
	u64 pc;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	pc = unwind->registers.value[REGISTER_PC];
	if (java->proof == JAVA_PROOF_NONE)
		return true;
	if (java->proof == JAVA_PROOF_LOOP)
		return java_returns_to_interpreter(java);
	if (java->proof == JAVA_PROOF_OWN &&
	    (java_returns_to_interpreter(java) || java->word == java->barrier))
		return true;
	if (!java_call_target_find(unwind))
		return false;
	if (core_reload(java->code) - java->blob < java->block_bytes)
		return java->proof != JAVA_PROOF_NEAR || pc - java->code < STUB_CODE_MAX;
	return java->proof == JAVA_PROOF_OWN && java_return_follows_call_of_stub(unwind);
}

/*
 * Proposes a rule: the CFA lies so many words above a register, the caller's rbp `rbp_slot` words
 * below the CFA (0: it is unchanged), and the return address in the word before the CFA.
 */
CORE_PART void java_propose_rule(struct unwind *unwind, u32 reg, u32 words, u32 rbp_slot,
				 enum java_proof proof)
{
	struct java_walk *java = &unwind->java;

	java->rule = (struct unwind_rule){
		.cfa_register = reg,
		.cfa_offset = 8 * words,
		.base = RULE_BASE_CFA,
		.slot = {SLOT_LOST, rbp_slot, SLOT_LOST, SLOT_LOST, SLOT_LOST, 0, 1},
	};
	java->return_at = unwind->registers.value[reg & (REGISTER_SLOTS - 1)] + 8 * (u64)words - 8;
	java->proof = proof;
}

/*
 * The caller's rsp is java->sender. A rule can only move the stack by a register, so r14 takes the
 * value for this step; the caller does not rely on r14.
 */
CORE_PART void java_propose_moved_stack(struct java_walk *java)
{
	java->rule.operand = REGISTER_R14;
	java->rule.flags = RULE_STACK_MOVED;
}

/* --- blocks --- */

/* Finds the block of the pc and the name of its kind. Sets java->method if the block is the code of
 * a method, and java->own_name if it is not. */
CORE_PART bool java_find_block_and_kind(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;

	java->own_kind = 0;
	java->code = unwind->registers.value[REGISTER_PC];
	if (!java_find_code_block(unwind))
		return false;
	if (!java->layout.has_names ||
	    !java_read_word(unwind, java->blob + java->layout.blob_name, &java->word) ||
	    !unwind_peek(unwind, java->word, java->kind, sizeof(java->kind)))
		return true;
	java->own_kind = java->kind[0];
	java->is_compiled = 1;
	java->is_thrower = !unwind->is_interrupted && (java->kind[0] == JAVA_EXCEPTION_KIND ||
						       java->kind[2] == JAVA_EXCEPTION_THIRD);
	if (java->own_kind != JAVA_COMPILED_KIND && java->own_kind != JAVA_NATIVE_KIND)
		java->own_name = java->word;
	else if (!java_read_word(unwind, java->blob + java->layout.blob_method, &java->method))
		java->method = 0;
	return true;
}

/*
 * Proposes the rule of a stub whose frame has no known size. A stub that jumps to a method has no
 * frame; such a stub of method handles is entered from the interpreter, with the caller's rsp in
 * r13. The machine's routines keep a frame pointer, but in their first and last instructions. Other
 * blocks have no rule here: adapters, for instance, make no frame, so rbp is that of a caller.
 */
CORE_PART bool java_propose_stub_rule(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	u64 rsp = unwind->registers.value[REGISTER_RSP];
	bool is_handle = java->own_kind == JAVA_HANDLE_KIND;

	if (is_handle || java->own_kind == JAVA_VIRTUAL_KIND) {
		java_propose_rule(unwind, REGISTER_RSP, 1, 0,
				  is_handle ? JAVA_PROOF_LOOP : JAVA_PROOF_NEAR);
		java->sender = unwind->registers.value[REGISTER_R13];
		if (is_handle)
			java_propose_moved_stack(java);
		return unwind->is_interrupted &&
		       (!is_handle || core_reload(java->sender) - rsp <= SENDER_BYTES_MAX);
	}
	java_propose_rule(unwind, REGISTER_RBP, 2, 2, JAVA_PROOF_BLOCK);
	return java->own_kind == JAVA_STUBS_KIND && java_register_is_known(unwind, REGISTER_RBP) &&
	       unwind->registers.value[REGISTER_RBP] - rsp <= STUB_FRAME_MAX;
}

/* Proposes the rule of code in a block. */
CORE_GLOBAL_PART int java_propose_block_rule(struct unwind *unwind)
{
	struct java_walk *java;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	/* For a frame of a block, a rule by the bytes at the pc is right. */
	if (!java_find_block_and_kind(unwind) ||
	    (unwind->is_interrupted && !(unwind->rule.flags & RULE_FRAME_POINTER)) ||
	    !unwind_peek(unwind, java->blob + java->layout.blob_frame, &java->words, 4))
		return false;
	if (core_reload(java->words) - FRAME_WORDS_MIN > FRAME_WORDS_MAX)
		return java_propose_stub_rule(unwind);
	java->slot = 2;
	if (!(unwind->is_interrupted ? java_interrupted_state_find(unwind)
				     : java_count_pushed_words(unwind)))
		return false;
	java_propose_rule(unwind, REGISTER_RSP, java->words, java->slot,
			  unwind->is_interrupted ? JAVA_PROOF_OWN : JAVA_PROOF_NONE);
	return true;
}

/* --- the interpreter --- */

/* Notes where the code in unwind->bytes.window takes the return address from the stack, and where
 * it begins to make the frame. */
static long java_match_entry(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	u64 code;

	core_one_register(i);
	if (i >= ENTRY_BYTES_MAX)
		return 1;
	code = core_load_u64(unwind->bytes.window + i);
	if ((code & ENTRY_POP_MASK) == ENTRY_POP)
		unwind->java.popped = i;
	unwind->java.pushed = i;
	return (code & ENTRY_PUSH_MASK) == ENTRY_PUSH;
}

/* Sets java->distance to the distance of the pc from the code that a call of the method enters. */
CORE_PART bool java_entry_distance_find(struct unwind *unwind, u64 method)
{
	struct java_walk *java = &unwind->java;

	if (!java->layout.method_entry ||
	    !java_read_word(unwind, method + java->layout.method_entry, &java->word))
		return false;
	java->distance = unwind->registers.value[REGISTER_PC] - java->word;
	return java_returns_to_interpreter(java);
}

/*
 * Proposes the rule of an interrupted frame whose method is being entered: rbx has the method's
 * address. The return address goes from the stack to rax and, behind the method's variables, back
 * to the stack, where the frame is made. r13 is the caller's rsp until the frame has it.
 */
CORE_GLOBAL_PART int java_propose_entry_rule(struct unwind *unwind)
{
	const struct unwind_registers *registers;
	u32 at, is_in_register, is_pushed, is_linked;
	struct java_walk *java;
	u64 rsp, frame;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	registers = &unwind->registers;
	if (registers->known != REGISTERS_ALL ||
	    !java_entry_distance_find(unwind, registers->value[REGISTER_RBX]) ||
	    (u64)core_reload(java->distance) >= ENTRY_BYTES_MAX)
		return false;
	java->popped = ENTRY_BYTES_MAX;
	unwind->bytes.filled = 0; /* the window holds other bytes now */
	if (!unwind_peek(unwind, java->word, unwind->bytes.window, BYTES_WINDOW))
		return false;
	core_rare_loop(ENTRY_BYTES_MAX, java_match_entry, &unwind);
	at = java->distance;
	if (core_reload(java->popped) >= core_reload(java->pushed) ||
	    java->pushed == ENTRY_BYTES_MAX - 1)
		return false;
	rsp = registers->value[REGISTER_RSP];
	frame = registers->value[REGISTER_RBP];
	is_in_register = is_below(java->popped, at) & is_below(at, java->pushed + 1);
	is_pushed = java_is_equal(at, java->pushed + 2);
	is_linked = is_below(java->pushed + 2, at);
	java->sender = registers->value[REGISTER_R13];
	if (is_linked) {
		/* The frame is complete when it has the method's address. */
		if (frame - rsp >= INTERPRETED_METHOD ||
		    (frame - rsp >= INTERPRETED_SENDER &&
		     !java_read_word(unwind, frame - INTERPRETED_SENDER, &java->sender)))
			return false;
		java_propose_rule(unwind, REGISTER_RBP, 2, 2, JAVA_PROOF_NONE);
	} else {
		java_propose_rule(unwind, REGISTER_RSP, 1 + is_pushed, 2 * is_pushed,
				  JAVA_PROOF_NONE);
	}
	java_propose_moved_stack(java);
	if (is_in_register) {
		java->return_at = 0;
		java->word = registers->value[REGISTER_RAX];
		java->rule.slot[SLOT_RETURN] = SLOT_IN_REGISTER + REGISTER_RAX;
	}
	java->callee = registers->value[REGISTER_RBX];
	return core_reload(java->sender) - rsp <= SENDER_BYTES_MAX;
}

/* Goes on to the next codelet of the interpreter, unless the current one contains the pc. */
static long java_check_codelet_or_go_to_next(u32 i, void *arg)
{
	struct unwind *unwind = *(struct unwind **)arg;
	struct java_walk *java = &unwind->java;
	u32 bytes;

	(void)i;
	java->has_block = 0;
	/* the address of the codelet's name, and the codelet's length */
	if (!unwind_peek(unwind, java->code, java->kind, 16))
		return 1;
	bytes = java->kind[1];
	java->has_block = unwind->registers.value[REGISTER_PC] - java->code < bytes;
	java->code += bytes;
	return core_reload(java->has_block) || !bytes;
}

/* True if the interrupted frame is complete, and calls or is returned to: the name of the codelet
 * is that of a bytecode that calls, or "return entry points". */
CORE_GLOBAL_PART int java_is_at_call(struct unwind *unwind)
{
	struct java_walk *java;

	if (core_is_null(unwind) || !unwind->java.layout.method_entry)
		return false;
	java = &unwind->java;
	java->code = java->interpreter;
	core_rare_loop(CODELETS_MAX, java_check_codelet_or_go_to_next, &unwind);
	if (!core_reload(java->has_block) || !java_read_word(unwind, java->kind[0], &java->word))
		return false;
	return (core_reload(java->word) & JAVA_INVOKE_MASK) == JAVA_INVOKE_CODELET ||
	       java->word == JAVA_RETURN_CODELET;
}

/*
 * True if the frame's current bytecode lies in the bytecode of the frame's method. A native method
 * has no bytecode; its pc lies in the code that its calls enter.
 */
CORE_PART bool java_bytecode_is_in_method(struct unwind *unwind, u64 frame)
{
	struct java_walk *java = &unwind->java;
	u64 place, first, rsp;
	bool is_inside;

	if (!java_read_word(unwind, frame - INTERPRETED_METHOD, &java->callee) ||
	    !java_read_word(unwind, core_reload(java->callee) + java->layout.method_const,
			    &java->other) ||
	    !unwind_peek(unwind, java->other + java->layout.const_count, &java->complete, 2) ||
	    !java_read_word(unwind, frame - INTERPRETED_PLACE, &java->word))
		return false;
	place = core_reload(java->word);
	first = java->other + java->layout.const_bytes;
	is_inside = place - first < java->complete || (!place && !java->complete);
	if (!unwind->is_interrupted)
		return is_inside;
	if (!java_register_is_known(unwind, REGISTER_R13))
		return false;
	rsp = unwind->registers.value[REGISTER_RSP];
	/* After `leave`, r13 is the callee's, whose saved rbp and return address are around rsp. */
	if (unwind->registers.value[REGISTER_R13] - first < java->complete)
		return !unwind_peek(unwind, rsp - 8, java->kind, 16) ||
		       core_reload(java->kind[0]) != frame ||
		       java->kind[1] - java->interpreter >= java->interpreter_bytes;
	if (!is_inside || frame - rsp < INTERPRETED_PLACE)
		return false;
	return place ? java_is_at_call(unwind)
		     : java_entry_distance_find(unwind, java->callee) &&
			       (u64)java->distance < NATIVE_ENTRY_BYTES_MAX;
}

/*
 * Proposes the rule of a complete frame of the interpreter. A call by a method handle removes a
 * word from the caller's stack, so the caller's rsp may be the address of the return address.
 */
CORE_GLOBAL_PART int java_propose_interpreter_rule(struct unwind *unwind)
{
	struct java_walk *java;
	u64 frame;

	if (core_is_null(unwind))
		return false;
	java = &unwind->java;
	frame = unwind->registers.value[REGISTER_RBP];
	if (!java_register_is_known(unwind, REGISTER_RBP) ||
	    frame < unwind->registers.value[REGISTER_RSP] ||
	    !java_bytecode_is_in_method(unwind, frame) ||
	    !java_read_word(unwind, frame - INTERPRETED_SENDER, &java->sender))
		return false;
	java_propose_rule(unwind, REGISTER_RBP, 2, 2, JAVA_PROOF_NONE);
	java_propose_moved_stack(java);
	return core_reload(java->sender) - (frame + 8) <= SENDER_BYTES_MAX;
}

/* --- all frames --- */

#define CONTINUATION_BYTES_MAX 256 /* the most bytes of the description of a virtual thread */

CORE_PART bool java_propose_barrier_rule(struct unwind *unwind)
{
	java_propose_rule(unwind, REGISTER_RBP, 2, 2, JAVA_PROOF_NONE);
	return java_register_is_known(unwind, REGISTER_RBP) &&
	       unwind->registers.value[REGISTER_RBP] - unwind->registers.value[REGISTER_RSP] <=
		       CONTINUATION_BYTES_MAX;
}

CORE_SUBPROGRAM bool java_rule(struct unwind *unwind)
{
	struct java_walk *java = &unwind->java;
	bool is_interpreter, is_barrier;
	u64 pc = unwind->registers.value[REGISTER_PC];

	if (!core_reload(java->is_found) || !java_read_machine(unwind))
		return false;
	if (pc == java->call_return && !unwind->is_interrupted) {
		unwind->rule = (struct unwind_rule){
			.cfa_register = REGISTER_RBP,
			.cfa_offset = 16,
			.base = RULE_BASE_CFA,
			.slot = {9, 2, 10, 11, 12, 13, 1},
		};
		return true;
	}
	is_interpreter = pc - java->interpreter < java->interpreter_bytes;
	is_barrier = pc == java->barrier && !unwind->is_interrupted;
	java->is_thrower = 0;
	java->callee = 0;
	if (!(is_barrier       ? java_propose_barrier_rule(unwind)
	      : is_interpreter ? (unwind->is_interrupted && java_propose_entry_rule(unwind)) ||
					 java_propose_interpreter_rule(unwind)
			       : java_propose_block_rule(unwind)) ||
	    !java_is_return_address(unwind) || !java_is_return_proven(unwind))
		return false;
	java->is_omitted |= is_barrier;
	if (is_interpreter) {
		java->method = java->layout.has_names ? java->callee : 0;
		java->is_compiled = 0;
	}
	if (java->rule.flags & RULE_STACK_MOVED) {
		unwind->registers.value[REGISTER_R14] = java->sender;
		unwind->registers.known |= 1U << REGISTER_R14;
	}
	unwind->rule = java->rule;
	return true;
}

#endif
