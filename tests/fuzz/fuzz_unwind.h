/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The head of an input for the unwinder's fuzzer: the part to call, and its registers. The memory
 * follows. */
#ifndef TESTS_FUZZ_UNWIND_H
#define TESTS_FUZZ_UNWIND_H

#include "rule.h"

#define FUZZ_BASE 0x400000ULL /* address of the memory */

enum fuzz_part {
	FUZZ_STACK,
	FUZZ_EH_FRAME_HDR,
	FUZZ_EH_FRAME,
	FUZZ_SFRAME,
	FUZZ_EXPRESSION,
	FUZZ_PARTS
};

struct fuzz_input {
	u8 part; /* enum fuzz_part, modulo their number */
	u8 is_compat;
	u16 reserved;
	u32 pc; /* offsets into the memory */
	u32 rsp;
	u32 rbp;
	u8 memory[];
};

#endif
