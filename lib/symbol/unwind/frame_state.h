/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The known state of a stack frame at one instruction, without running the code: the registers that
 * hold an address relative to the CFA, and where the caller's rbx, rbp and r12 to r15 are. An
 * instruction changes a state (frame_state_step()), two paths that meet have the common part of
 * their states (frame_state_meet()), and a state gives a rule for the unwinder
 * (frame_state_rule()).
 *
 * The CFA is the stack pointer after the return address (abi/rule.h), so rsp is CFA - 8 at the
 * first instruction of a function.
 */
#ifndef LIB_SYMBOL_FRAME_STATE_H
#define LIB_SYMBOL_FRAME_STATE_H

#include "arch/numbers_x86_64.h"
#include "rule.h"
#include "x86_decode.h"
#include <stdbool.h>

#define FRAME_WORD 8
#define FRAME_OFFSET_LIMIT (1 << 28) /* bound of offsets relative to the stack */
#define FRAME_SAVED_REGISTERS 6	     /* registers with a slot in a rule */

enum frame_value_kind {
	VALUE_UNKNOWN,
	VALUE_ENTRY,	/* the value of register `offset` at the function's entry */
	VALUE_CFA,	/* CFA + offset */
	VALUE_ALIGNED,	/* the stack pointer that instruction `extra` rounded down, + offset */
	VALUE_CONSTANT, /* offset, as 32 bits */
	VALUE_BELOW,	/* an unsigned number below offset */
	VALUE_CHILD,	/* the result of clone(): 0 in the child */
	VALUE_ADDRESS,	/* the address `offset` of the file */
	/* Values of a table at `offset` with `extra` entries (0 = not known): */
	VALUE_DISTANCE, /* a 32-bit entry, relative to the table */
	VALUE_TARGET,	/* the address that such an entry gives */
	VALUE_POINTER,	/* a 64-bit entry */
};

/* The known value of a register or a word of the stack. */
struct frame_value {
	u32 kind : 4;
	u32 extra : 28;
	s32 offset;
};

/* The registers of a rule's slots. */
static const u8 frame_saved_register[FRAME_SAVED_REGISTERS] = {
	[SLOT_RBX] = X86_RBX, [SLOT_RBP] = X86_RBP, [SLOT_R12] = X86_R12,
	[SLOT_R13] = X86_R13, [SLOT_R14] = X86_R14, [SLOT_R15] = X86_R15,
};

ABI_INLINE bool frame_value_is_same(struct frame_value a, struct frame_value b)
{
	return a.kind == b.kind && a.extra == b.extra && a.offset == b.offset;
}

ABI_INLINE bool frame_value_is_stack(struct frame_value value)
{
	return value.kind == VALUE_CFA || value.kind == VALUE_ALIGNED;
}

/* True if both are addresses in the same part of the stack. */
ABI_INLINE bool frame_value_is_comparable(struct frame_value a, struct frame_value b)
{
	return frame_value_is_stack(a) && a.kind == b.kind && a.extra == b.extra;
}

ABI_INLINE struct frame_value frame_value_moved(struct frame_value value, s64 distance)
{
	s64 offset = value.offset + distance;

	if (!value.kind || offset < -FRAME_OFFSET_LIMIT || offset > FRAME_OFFSET_LIMIT)
		return (struct frame_value){};
	value.offset = offset;
	return value;
}

enum frame_state_flag {
	FRAME_OUTERMOST = 1 << 0,   /* the frame has no caller */
	FRAME_RETURN_LOST = 1 << 1, /* the return address was overwritten */
};

struct frame_state { /* whole words of 8 bytes, to be hashed */
	struct frame_value reg[X86_REGISTERS];
	struct frame_value
		slot[FRAME_SAVED_REGISTERS]; /* address of each saved register on the stack */
	struct frame_value copy;	     /* address of a copy of CFA + copy_offset */
	s32 copy_offset;
	u32 flags;
	u32 owner; /* the function's number */
	u32 reserved;
};

/* The last comparison, for the branch after it. */
struct frame_compared {
	u8 reg;	  /* X86_NO_REGISTER: no comparison */
	u8 other; /* X86_NO_REGISTER: compared with `immediate` */
	bool is_test;
	s32 immediate;
};

enum frame_step_result {
	FRAME_STEPPED,
	FRAME_SWITCHED,	   /* rsp is loaded from memory: the code switches stacks */
	FRAME_CONTRADICTED /* impossible in a function */
};

void frame_state_at_entry(struct frame_state *state, u32 owner);

/* Drops the caller's values of registers, a bit for each slot of a rule. */
void frame_state_lose(struct frame_state *state, u32 lost);

/* Applies an instruction without a jump, at `address` of the file. */
enum frame_step_result frame_state_step(struct frame_state *state,
					const struct x86_instruction *instruction, u32 address,
					struct frame_compared *compared);

/* Applies a call that has returned; the callee did not keep the registers `lost` (a bit for each
 * slot of a rule). */
void frame_state_return(struct frame_state *state, u32 lost);

/* Adds what a branch, taken or not, says of the register that was compared. */
void frame_state_branch(struct frame_state *state, const struct x86_instruction *instruction,
			const struct frame_compared *compared, bool is_taken);

/* Reduces *state to the common part of both. False: the states contradict each other. */
bool frame_state_meet(struct frame_state *state, const struct frame_state *other);

/* True if the state at an address holds for a path that reaches the address with its own state. */
bool frame_state_agrees(const struct frame_state *there, const struct frame_state *path);

/* True if rsp points to the return address. */
bool frame_state_is_bare(const struct frame_state *state);

/* The registers without the caller's value, a bit for each slot of a rule. */
u32 frame_state_changed(const struct frame_state *state);

/* Sets the unwind rule of a state. False: the state gives no rule. */
bool frame_state_rule(const struct frame_state *state, struct unwind_rule *rule);

/* The value of the operand rm before the instruction. */
struct frame_value frame_state_operand(const struct frame_state *state,
				       const struct x86_instruction *instruction, u32 address);

#endif
