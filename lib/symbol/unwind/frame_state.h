/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The known state of a stack frame at one instruction, without running the code: the registers that
 * hold an address relative to the CFA, and where the caller's rbx, rbp and r12 to r15 are. An
 * instruction changes a state (frame_state_step()), two paths that meet have the common part of
 * their states (frame_state_keep_common_values()), and a state gives a rule for the unwinder
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
#define FRAME_OFFSET_LIMIT (1 << 28) /* offsets relative to the stack are less than this */
#define FRAME_SAVED_REGISTERS 6	     /* number of registers that have a slot in a rule */

enum frame_value_kind {
	VALUE_UNKNOWN,
	VALUE_ENTRY,	/* the value that register `offset` had at the function's entry */
	VALUE_CFA,	/* CFA + offset */
	VALUE_ALIGNED,	/* a stack pointer that was rounded down by the instruction at address
			   `extra`, + offset */
	VALUE_CONSTANT, /* the number `offset`, as 32 bits */
	VALUE_BELOW,	/* an unsigned number less than `offset` */
	VALUE_CHILD,	/* the result of clone(): 0 in the child, not known in the parent */
	VALUE_ADDRESS,	/* the address `offset` in the file */
	/* Entries of a table at the address `offset`, which has `extra` entries (0 = not known): */
	VALUE_DISTANCE, /* an entry of 32 bits, which is relative to the table */
	VALUE_TARGET,	/* the address that an entry of 32 bits leads to */
	VALUE_POINTER,	/* an entry of 64 bits, which is an address */
};

/* The known value of a register or a word of the stack. */
struct frame_value {
	u32 kind : 4;
	u32 extra : 28;
	s32 offset;
};

/* The register that each slot of a rule is for. */
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

/* True if both values are addresses in the same part of the stack. */
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
	FRAME_RETURN_LOST = 1 << 1, /* the return address on the stack was overwritten */
};

struct frame_state { /* the size is a multiple of 8 bytes, so that the state can be hashed */
	struct frame_value reg[X86_REGISTERS];
	struct frame_value slot[FRAME_SAVED_REGISTERS]; /* where on the stack the caller's value of
							   each register is saved */
	struct frame_value copy; /* where on the stack a copy of CFA + copy_offset is */
	s32 copy_offset;
	u32 flags;
	u32 owner; /* number of the function that the state belongs to */
	u32 reserved;
};

/* The last comparison, for the conditional jump after it. */
struct frame_compared {
	u8 reg;	  /* register that was compared; X86_NO_REGISTER: no comparison is known */
	u8 other; /* register that it was compared with; X86_NO_REGISTER: it was compared with
		     `immediate` */
	bool is_test;
	s32 immediate;
};

enum frame_step_result {
	FRAME_STEPPED,
	FRAME_SWITCHED,	   /* the instruction loads rsp from memory: the code switches stacks */
	FRAME_CONTRADICTED /* no function has such an instruction in this state */
};

void frame_state_at_entry(struct frame_state *state, u32 owner);

/* Records that registers no longer have the caller's value: `lost` has a bit for each slot of a
 * rule. */
void frame_state_set_registers_unknown(struct frame_state *state, u32 lost);

/* Applies an instruction, at `address` of the file, that is no jump. */
enum frame_step_result frame_state_step(struct frame_state *state,
					const struct x86_instruction *instruction, u32 address,
					struct frame_compared *compared);

/* Applies a call that has returned. `lost` (a bit for each slot of a rule): the registers that the
 * callee did not keep. */
void frame_state_apply_call(struct frame_state *state, u32 lost);

/* Adds what a conditional jump, taken or not, tells of the register that was compared before. */
void frame_state_branch(struct frame_state *state, const struct x86_instruction *instruction,
			const struct frame_compared *compared, bool is_taken);

/* Reduces *state to what both states have in common. False: the states contradict each other. */
bool frame_state_keep_common_values(struct frame_state *state, const struct frame_state *other);

/* True if the known state at an address also holds on a path that reaches the address with the
 * state `path`. */
bool frame_states_are_compatible(const struct frame_state *there, const struct frame_state *path);

/* True if rsp points to the return address, as at the entry of a function. */
bool is_rsp_at_return_address(const struct frame_state *state);

/* The registers that do not have the caller's value: a bit for each slot of a rule. */
u32 frame_state_changed_registers(const struct frame_state *state);

/* Sets the unwind rule that a state gives. False: the state gives no rule. */
bool frame_state_rule(const struct frame_state *state, struct unwind_rule *rule);

/* The value that the operand ModRM.rm has before the instruction. */
struct frame_value frame_state_operand(const struct frame_state *state,
				       const struct x86_instruction *instruction, u32 address);

#endif
