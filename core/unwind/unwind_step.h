/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The executor: steps from the registers of a frame, by its rule, to those of its caller. */
#ifndef CORE_UNWIND_STEP_H
#define CORE_UNWIND_STEP_H

#include "env.h"
#include "scalar.h"

#define STEP_WORDS 16 /* saved registers that one read gets; a power of two */

struct unwind;

/*
 * State while the slots of a rule are restored. It is not on the BPF stack, where the verifier
 * would track each value and keep more states.
 */
struct slot_restore {
	u64 cfa;
	u64 base;
	u32 stop;
	u32 reserved;
};

/*
 * Steps unwind->registers by unwind->rule. STOP_NONE: the registers are the caller's; its pc is not
 * 0, and its stack pointer is further out (unless a signal interrupted it: a signal may have come
 * on a stack of its own). Otherwise the registers are undefined.
 */
CORE_SUBPROGRAM u32 unwind_step(struct unwind *unwind);

#endif
