/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules for code that no unwind table covers: by its bytes where these say all (stubs of the PLT,
 * prologues, signal trampolines), else by frame pointer.
 */
#ifndef CORE_UNWIND_CODE_H
#define CORE_UNWIND_CODE_H

#include "env.h"
#include "rule.h"

struct unwind;

/* The rule of the current pc: there is always one, unless the code cannot be read. */
CORE_SUBPROGRAM u32 code_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
