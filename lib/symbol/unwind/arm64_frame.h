/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The known state of a stack frame at one instruction of arm64, without running the code: where sp
 * and x29 are relative to the CFA, and where the caller's x29 and the return address are. The CFA
 * is the value that sp has at the first instruction of a function.
 *
 * Distances are bytes below the CFA: the word at distance 8 is the highest one of the frame.
 */
#ifndef LIB_SYMBOL_ARM64_FRAME_H
#define LIB_SYMBOL_ARM64_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "rule.h"

struct code_image;

#define DISTANCE_UNKNOWN INT32_MIN
#define FP_IS_CALLERS INT32_MAX /* x29 has the caller's value */

struct arm64_frame {	   /* the size is a multiple of 8 bytes, so that the state can be hashed */
	s32 sp;		   /* distance of sp */
	s32 fp;		   /* distance of x29 */
	s32 fp_place;	   /* distance of the word with the caller's x29; 0 = not saved */
	s32 link_place;	   /* distance of the word with the return address; 0 = not saved */
	u32 has_link;	   /* 1: x30 has the return address */
	u32 is_after_call; /* 1: x30 has the address after a call that the function has made */
};

/* Known numbers in x8 to x17: sizes of large frames, and numbers of system calls. */
#define CONSTANT_FIRST 8
#define CONSTANT_COUNT 10

struct arm64_constants {
	u64 value[CONSTANT_COUNT];
	u32 known; /* bit i: value[i] is known */
};

enum arm64_flow {
	ARM64_NEXT,
	ARM64_BRANCH, /* a conditional jump */
	ARM64_JUMP,
	ARM64_JUMP_INDIRECT,
	ARM64_CALL,
	ARM64_CALL_INDIRECT,
	ARM64_RETURN,
	ARM64_SYSTEM_CALL,
	ARM64_TRAP,
	ARM64_NO_INSTRUCTION, /* no instruction has these bits */
};

/* Control flow after an instruction. *distance: bytes from the instruction to the target of a
 * branch, a jump or a call. */
enum arm64_flow arm64_flow_of(u32 code, s64 *distance);

/* True if execution never goes on with the next instruction. */
bool arm64_never_falls_through(u32 code);

/* Sets the address that adr makes, or adrp and an addition after it, at the address `here`. */
bool arm64_makes_address(u32 code, u32 next, s64 here, s64 *address);

/* True if a call of the address never returns: the address, or the slot of a stub at the address,
 * is in image->noreturn. */
bool arm64_is_call_without_return(const struct code_image *image, s64 target);

enum system_call {
	SYSTEM_CALL_EXIT = 93,
	SYSTEM_CALL_EXIT_GROUP = 94,
	SYSTEM_CALL_RETURN_OF_SIGNAL = 139,
	SYSTEM_CALL_CLONE = 220,
	SYSTEM_CALL_CLONE3 = 435,
};

/* The number of the system call that is made; 0: not known. */
u32 arm64_system_call_number(const struct arm64_constants *constants);

/* True if an instruction begins another function: paciasp, pacibsp or bti c in a frame, and a store
 * of x30 where it has the address after a call, or a second one of the return address. */
bool arm64_begins_another(const struct arm64_frame *frame, u32 code);

static const struct arm64_frame arm64_frame_at_entry = {.fp = FP_IS_CALLERS, .has_link = 1};

/* Changes a state by the effect of an instruction whose flow is ARM64_NEXT. */
void arm64_frame_step(struct arm64_frame *frame, struct arm64_constants *constants, u32 code);

/* True if a function may be left here: its stack is empty, and x29 and x30 are the caller's. */
bool arm64_frame_is_at_entry(const struct arm64_frame *frame);

/* Reduces *frame to what both states have in common. False: the states contradict each other. */
bool arm64_frame_keep_common(struct arm64_frame *frame, const struct arm64_frame *other);

/* Sets the unwind rule that a state gives. False: the state gives no rule. */
bool arm64_frame_rule(const struct arm64_frame *frame, struct unwind_rule *rule);

#endif
