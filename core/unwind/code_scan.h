/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads code forwards, from a pc to the end of its function: if all instructions on the way are
 * understood, it is known where the return address lies, and no table or frame pointer is needed.
 */
#ifndef CORE_CODE_SCAN_H
#define CORE_CODE_SCAN_H

#include <stdbool.h>

#include "env.h"
#include "rule.h"

struct unwind;

struct code_scan {
	s64 bytes;	/* what rsp will have gained, from the pc to here */
	s64 popped[16]; /* by machine number: 1 + where the register is popped from, above rsp */
	bool has_end;
	bool after_branch; /* the instruction before was a conditional jump */
	u32 instructions;
};

#define CODE_UNREADABLE (~0ULL)

/* The rule of the current pc. False: the end is not in sight. unwind->code_seen is how far it had
 * to look, or CODE_UNREADABLE. */
CORE_SUBPROGRAM bool code_scan_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
