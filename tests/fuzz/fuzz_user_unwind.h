/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The head of an input for the fuzzer of lib/user_unwind; the stack and the file follow. */
#ifndef TESTS_FUZZ_USER_UNWIND_H
#define TESTS_FUZZ_USER_UNWIND_H

#include "raw_stack.h"

#define FUZZ_USER_UNWIND_MAPPINGS 4

struct fuzz_user_unwind_input {
	u16 stack_bytes;
	u8 mapping_count;
	u8 flags; /* enum raw_flag */
	u32 reserved;
	u64 stack_start;
	u64 value[REGISTER_COUNT];
	struct raw_mapping mapping[FUZZ_USER_UNWIND_MAPPINGS];
};

#endif
