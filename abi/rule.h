/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A rule says in 16 bytes how to step one frame outwards from one pc. Every format of unwind tables
 * is compiled to rules, one executor runs them, and caches keep them.
 *
 * CFA, the canonical frame address, is the stack pointer of the caller once the call has returned:
 *
 *   CFA_REGISTER      register + offset
 *   CFA_DEREF         *(register + offset) + 8 * operand
 *   CFA_DEREF_INDEX   *(register + offset + 8 * base) + 8 * operand     (base is a register here)
 *   CFA_PLT           register + offset + ((ip & 15) >= operand ? 8 : 0)
 *   CFA_SIGNAL        all registers are in the ucontext at register + offset
 *   CFA_BY_CODE       no table covers the code: its bytes say how (core/arch/code_rule.h)
 *   CFA_SCRIPT_LOOP   register + offset; the frame is that of an interpreter's loop, and its CFA
 *                     or two registers lead to the script's frames (abi/script.h)
 *   CFA_GO_SAVED, CFA_GO_DEPTH: the caller is on another stack, whose place Go's runtime has noted
 *                     (core/unwind/go_stack.h)
 *
 * The slot of a callee-saved register, or of the return address:
 *
 *   0                     the register still has its value; the return address is in
 *                         REGISTER_LINK
 *   1 .. SLOT_WORDS_MAX   saved that many words below `base`: at CFA - 8 * slot, or for a base
 *                         that is a register at register + 8 * (RULE_BASE_WORDS - slot). The
 *                         return address is relative to the CFA, or to the base
 *                         (RETURN_IS_BELOW_BASE)
 *   SLOT_IN_REGISTER + r  in register r
 *   SLOT_LOST             not known: a frame that needs the register ends the walk
 *
 * Registers and slots of each architecture are in abi/arch/.
 */
#ifndef STACKMAP_ABI_RULE_H
#define STACKMAP_ABI_RULE_H

#include "arch/registers.h"
#include "scalar.h"
#include "stack.h"

/* length of arrays of registers: a power of two, so that a mask bounds an index */
#define REGISTER_SLOTS 32

/* A register has a meaning only if its bit in `known` is set: a call preserves few registers. */
struct unwind_registers {
	u64 value[REGISTER_SLOTS];
	u32 known;
	u32 at_entry; /* 1: the pc is a function's first instruction, as the event's source says */
};
ABI_SIZE(struct unwind_registers, 264);

enum cfa_kind {
	CFA_REGISTER,
	CFA_DEREF,
	CFA_DEREF_INDEX,
	CFA_PLT,
	CFA_SIGNAL,
	CFA_BY_CODE,
	CFA_SCRIPT_LOOP,
	CFA_GO_SAVED,
	CFA_GO_DEPTH,
	CFA_KIND_COUNT
};

enum rule_flag {
	RULE_OUTERMOST = 1 << 0, /* the frame has no caller */
	RULE_SIGNAL = 1 << 1,	 /* the caller was interrupted: its pc is exact, not after a call */
	/*
	 * the rule is guessed: neither a table nor the code proves it, so the stack is searched for
	 * a proof (core/arch/return_search.h)
	 */
	RULE_FRAME_POINTER = 1 << 2,
	/*
	 * CFA_REGISTER: the caller's rsp is not the CFA, but the value of register `operand`
	 * (longjmp)
	 */
	RULE_STACK_MOVED = 1 << 3,
	/*
	 * the rule is guessed for code in which stacks may begin: if rbp is 0, the frame is the
	 * outermost one
	 */
	RULE_ENTRY = 1 << 4,
	RULE_UNCALLED = 1 << 5, /* the pc is a return address that no call has pushed, but the
				   creator of the stack (Go) */
	/* no table covers the pc: the rule was made by an analysis of the function's code */
	RULE_ANALYSED = 1 << 6,
	/* the code may have switched stacks: a caller's rsp a few bytes below this frame's is
	 * accepted (core/stack_switch.h) */
	RULE_SWITCHED = 1 << 7,
};

/*
 * The slots of CFA_GO_SAVED and CFA_GO_DEPTH: word offsets from the address that a pointer holds.
 * SLOT_FP and SLOT_RETURN have their usual meaning.
 */
enum go_slot {
	/*
	 * CFA_GO_SAVED on x86-64: offset of the field m in a struct g. On arm64 cfa_offset has it,
	 * and slot 0 is SLOT_FP
	 */
	GO_SLOT_M = 0,
	/* CFA_GO_SAVED: offset of the field curg, the goroutine's g, in a struct m */
	GO_SLOT_GOROUTINE = 2,
	/* in the goroutine's g: offset of the saved stack pointer or stack end */
	GO_SLOT_STACK = 3,
	/*
	 * CFA_GO_SAVED: offset of the saved frame pointer in the goroutine's g; 0: the goroutine
	 * has called and waits for the return
	 */
	GO_SLOT_RBP = 4,
	GO_SLOT_DEPTH = 4, /* CFA_GO_DEPTH: offset of the depth from the stack pointer */
};

#define SLOT_WORDS_MAX 0xdf
#define SLOT_IN_REGISTER 0xe0
#define SLOT_LOST 0xff
#define RULE_BASE_CFA 0xff

#define SLOT_WORD 8U
#define RULE_SLOTS 7
#define RULE_BASE_BYTES (SLOT_WORD * RULE_BASE_WORDS)

/*
 * The slot of a register that is saved at base + offset. SLOT_LOST: the register is saved above the
 * base, too far below it, or not at a whole word.
 */
ABI_INLINE u8 slot_of_word_below_base(s64 offset)
{
	/* a huge number if `offset` is positive: the register is saved above the base */
	u64 distance = -(u64)offset;

	if (distance % SLOT_WORD || !distance || distance > SLOT_WORDS_MAX * SLOT_WORD)
		return SLOT_LOST;
	return distance / SLOT_WORD;
}

/*
 * The operand of CFA_SCRIPT_LOOP: the number of a register that holds the address of the script's
 * innermost frame, and the number of a register that holds the address of that frame's instruction.
 * The operand has no meaning for an interpreter that keeps neither address in a register.
 */
#define RULE_LOOP_OPERAND(frame, place) ((frame) | (place) << 4)
#define RULE_LOOP_FRAME(operand) ((operand)&15U)
#define RULE_LOOP_PLACE(operand) ((operand) >> 4)

/*
 * The operand of a loop whose script frames only the callback finds. The walk at an event leaves a
 * stack with such a loop to the callback. The number 7 in place of the second register marks such a
 * loop: register 7 is rsp, which never holds the address of an instruction.
 */
#define RULE_LOOP_LEFT(frame) RULE_LOOP_OPERAND(frame, 7)
#define RULE_LOOP_IS_LEFT(operand) (RULE_LOOP_PLACE(operand) == 7)

/* The operand of CFA_BY_CODE and CFA_REGISTER for V8's built-in functions: code of V8's file that
 * no unwind table covers. Other rules of these kinds have smaller operands. */
#define RULE_OPERAND_V8 0xff

struct unwind_rule {
	s32 cfa_offset;
	u8 cfa_kind;
	u8 cfa_register;
	u8 operand;
	u8 base;	     /* base of the slots: RULE_BASE_CFA, or the number of a register */
	u8 flags;	     /* enum rule_flag */
	u8 slot[RULE_SLOTS]; /* index: enum rule_slot */
};
ABI_SIZE(struct unwind_rule, 16);

/* The ways in which a walk can end. X(ID, name, meaning). */
#define STOP_REASONS(X)                                                                            \
	X(NONE, "none", "taken by frame pointers alone: callers may be missing")                   \
	X(ROOT, "root", "the outermost frame was reached")                                         \
	X(DEPTH, "depth", "deeper than the limit of frames")                                       \
	X(BUDGET, "budget", "the work allowed for one stack was used up")                          \
	X(NOT_CODE, "not_code", "the caller's address lies in no executable mapping")              \
	X(NULL_RETURN, "null_return", "the return address is 0")                                   \
	X(NO_RULE, "no_rule", "no unwind table covers the code, and it keeps no frame pointer")    \
	X(STACK_UNREADABLE, "stack_unreadable", "the stack could not be read")                     \
	X(TABLE_UNREADABLE, "table_unreadable", "the unwind table could not be read")              \
	X(BAD_TABLE, "bad_table", "the unwind table is malformed")                                 \
	X(UNSUPPORTED, "unsupported",                                                              \
	  "the unwind table asks for more than is understood, or 32-bit code runs on arm64")       \
	X(UNKNOWN_REGISTER, "unknown_register",                                                    \
	  "the frame is found by a register whose value an inner frame did not keep")              \
	X(NO_PROGRESS, "no_progress", "the caller's frame would not be further out")               \
	X(UNALIGNED, "unaligned", "the caller's stack pointer would not be aligned")               \
	X(GUESSED, "guessed", "a caller was guessed: the frames marked ? may be others")

#define X(id, name, meaning) ABI_ENUM_ENTRY(STOP, id)
enum stop_reason { STOP_REASONS(X) STOP_COUNT };
#undef X

/* The flags of a user stack whose walk ended with `stop`. */
static inline u32 stack_flags_of_stop(u32 stop)
{
	if (stop == STOP_DEPTH)
		return STACK_USER | STACK_TRUNCATED;
	return STACK_USER | (stop == STOP_ROOT ? 0 : stop << STACK_STOP_SHIFT);
}

/* True if a walk at the event that ends with `stop` has its stack unwound later. */
#define STOP_IS_DEFERRAL(stop)                                                                     \
	((stop) != STOP_NONE && (stop) != STOP_ROOT && (stop) != STOP_DEPTH &&                     \
	 (stop) != STOP_GUESSED)

#endif
