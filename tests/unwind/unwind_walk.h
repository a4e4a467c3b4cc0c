/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What test_bpf.c and unwind_walk.bpf.c share. */
#ifndef TESTS_UNWIND_WALK_H
#define TESTS_UNWIND_WALK_H

#include "scalar.h"

#define WALK_MAPPINGS_MAX 1024

struct walk_mapping {
	u64 start, end, image;
};

struct walk_control {
	u64 walks;
	u32 tid; /* whose system calls are unwound */
	u32 mapping_count;
	struct walk_mapping mapping[WALK_MAPPINGS_MAX];
};

#endif
