/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code without tables (code_rule.h), as the unwinder reads it. */
#ifndef CORE_UNWIND_CODE_H
#define CORE_UNWIND_CODE_H

#include "env.h"
#include "rule.h"

struct unwind;

/* Of unwind->code_seen: the rule was made from less code than there is, or from registers. */
#define CODE_UNREADABLE (~0ULL)

/* The rule of the current pc: there is always one, unless the code cannot be read. */
CORE_SUBPROGRAM u32 unwind_code_rule(struct unwind *unwind, struct unwind_rule *rule);

#endif
