/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds an argument of a function by its name: the register or stack bytes that hold the argument
 * at the function's first instruction, and the pointers and members that lead from the argument to
 * a number. The file may hold any bytes: call in a sandbox only (symbol/debuginfo/debug_service.h).
 */
#ifndef LIB_SYMBOL_DWARF_ARGUMENT_H
#define LIB_SYMBOL_DWARF_ARGUMENT_H

#include <elfutils/libdw.h>

#include "question.h"
#include "scalar.h"

#define DWARF_ARGUMENT_REASON_BYTES 384

/* Where a number is at the entry of a function: in a register, or, if `steps` is not 0, in memory,
 * as in struct event_number (abi/question.h). */
struct dwarf_argument {
	u32 reg;  /* DWARF number of the register */
	u8 byte;  /* byte of the register at which the number begins; used if `steps` is 0 */
	u8 bytes; /* length of the number in bytes: 1, 2, 4 or 8 */
	u8 is_signed;
	u8 is_address;
	u32 steps;
	s32 displacement[NUMBER_STEPS_MAX];
};

/*
 * Finds the argument that `path` names, as "size" or "request->file.size". `unit` covers `address`,
 * the entry of a function with the symbol `symbol`. 0; else `reason` has a text, and -ENODATA: no
 * debug information of such a function; -ENOENT: no such parameter or member; -EINVAL: the path
 * does not lead to a number; -EOPNOTSUPP: it is not known where the argument is at the entry;
 * -E2BIG: the path has more than NUMBER_STEPS_MAX pointers, or the types refer to too many other
 * types.
 */
int dwarf_argument_find(const Dwarf_Die *unit, u64 address, const char *symbol, const char *path,
			struct dwarf_argument *out, char reason[DWARF_ARGUMENT_REASON_BYTES]);

#endif
