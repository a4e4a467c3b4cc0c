/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads code forwards, from a pc to the end of its function. If all instructions on the way are
 * understood, the place of the return address is known without a table or frame pointer.
 */
#ifndef CORE_CODE_SCAN_H
#define CORE_CODE_SCAN_H

#include "env.h"
#include "near_code.h"
#include "rule.h"

/*
 * Makes the rule of the pc whose code is code->word. 0: the scan did not reach the end of the
 * function.
 */
CORE_GLOBAL int code_scan_rule(struct near_code *code, struct unwind_rule *rule);

#endif
