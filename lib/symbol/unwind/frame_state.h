/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of a stack frame at one instruction, without running it: which registers hold an
 * address relative to the CFA, and where the caller's rbx, rbp and r12 to r15 are. An instruction
 * changes a state (frame_state_step()), two paths that meet have what both states say
 * (frame_state_meet()), and a state is a rule for the unwinder (frame_state_rule()).
 *
 * The CFA is the stack pointer behind the return address (abi/rule.h), so rsp is CFA - 8 at a
 * function's first instruction.
 */
#ifndef LIB_SYMBOL_FRAME_STATE_H
#define LIB_SYMBOL_FRAME_STATE_H

#include "frame_value.h"

enum frame_state_flag {
	FRAME_OUTERMOST = 1 << 0,   /* there is no caller */
	FRAME_RETURN_LOST = 1 << 1, /* the return address was overwritten */
};

struct frame_state { /* whole words of 8 bytes, to be hashed */
	struct frame_value reg[X86_REGISTERS];
	struct frame_value
		slot[FRAME_SAVED_REGISTERS]; /* where it is saved: VALUE_CFA, VALUE_ALIGNED */
	struct frame_value copy;	     /* where a copy of CFA + copy_offset is saved */
	s32 copy_offset;
	u32 flags;
	u32 owner; /* the function's number */
	u32 reserved;
};

/* What the last comparison said, for the branch behind it. */
struct frame_compared {
	u8 reg;	  /* X86_NO_REGISTER: nothing */
	u8 other; /* X86_NO_REGISTER: compared with `immediate` */
	bool is_test;
	s32 immediate;
};

enum frame_step_result {
	FRAME_STEPPED,
	FRAME_SWITCHED,	   /* rsp comes from elsewhere: the code changes to another stack */
	FRAME_CONTRADICTED /* no function does this to its stack */
};

void frame_state_at_entry(struct frame_state *state, u32 owner);

/* Registers, a bit for each slot of a rule, have not the caller's values any more. */
void frame_state_lose(struct frame_state *state, u32 lost);

/* The effect of an instruction without a jump, which lies at `address` of the file. */
enum frame_step_result frame_state_step(struct frame_state *state,
					const struct x86_instruction *instruction, u32 address,
					struct frame_compared *compared);

/* A call that has returned: of `lost` (a bit for each slot of a rule) the callee kept nothing. */
void frame_state_return(struct frame_state *state, u32 lost);

/* What a branch tells of the state behind it. */
void frame_state_branch(struct frame_state *state, const struct x86_instruction *instruction,
			const struct frame_compared *compared, bool is_taken);

/* Makes *state what both say. False: a frame cannot be in either state at the same place. */
bool frame_state_meet(struct frame_state *state, const struct frame_state *other);

/* Whether what is said of one place holds for a path that comes to it in another state. */
bool frame_state_agrees(const struct frame_state *there, const struct frame_state *path);

/* rsp points to the return address. */
bool frame_state_is_bare(const struct frame_state *state);

/* A bit for each slot of a rule whose register does not hold the caller's value. */
u32 frame_state_changed(const struct frame_state *state);

bool frame_state_rule(const struct frame_state *state, struct unwind_rule *rule);

/* The value of the operand rm before the instruction. */
struct frame_value frame_state_operand(const struct frame_state *state,
				       const struct x86_instruction *instruction, u32 address);

#endif
