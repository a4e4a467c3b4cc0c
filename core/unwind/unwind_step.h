/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The executor: from the registers of a frame, by its rule, to those of its caller. */
#ifndef CORE_UNWIND_STEP_H
#define CORE_UNWIND_STEP_H

#include "env.h"
#include "scalar.h"

#define STEP_WORDS 16 /* of saved registers that one read brings; a power of two */

struct unwind;

/* The slots of a rule while they are restored. Not on the program's stack: the verifier tracks each
 * value there, and would keep more states. */
struct slot_restore {
	u64 cfa;
	u64 base;
	u32 stop;
	u32 reserved;
};

/*
 * Steps unwind->registers by unwind->rule. STOP_NONE: they are the caller's, whose pc is not 0 and
 * whose stack pointer is further out (unless a signal interrupted it: that may have come on a stack
 * of its own). Else they are undefined.
 */
CORE_SUBPROGRAM u32 unwind_step(struct unwind *unwind);

#endif
