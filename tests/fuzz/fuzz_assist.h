/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An input of the fuzzer of lib/assist, before stack and file. */
#ifndef TESTS_FUZZ_ASSIST_H
#define TESTS_FUZZ_ASSIST_H

#include "raw_stack.h"

#define FUZZ_ASSIST_MAPPINGS 4

struct fuzz_assist_input {
	u16 stack_bytes;
	u8 mapping_count;
	u8 flags; /* enum raw_flag */
	u32 reserved;
	u64 stack_start;
	u64 value[REGISTER_COUNT];
	struct raw_mapping mapping[FUZZ_ASSIST_MAPPINGS];
};

#endif
