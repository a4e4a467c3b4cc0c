/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads code forwards, from a pc to the end of its function: if all instructions on the way are
 * understood, it is known where the return address lies, and no table or frame pointer is needed.
 */
#ifndef CORE_CODE_SCAN_H
#define CORE_CODE_SCAN_H

#include "env.h"
#include "near_code.h"
#include "rule.h"

/* Makes the rule of the pc whose code is code->word. 0: the end is not in sight. */
CORE_GLOBAL int code_scan_rule(struct near_code *code, struct unwind_rule *rule);

#endif
