/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that test_bpf.c and unwind_walk.bpf.c share. */
#ifndef TESTS_UNWIND_WALK_H
#define TESTS_UNWIND_WALK_H

#include "listed_mappings.h"

struct walk_control {
	u64 walks;
	u32 tid; /* the task whose system calls are unwound */
	u32 reserved;
	struct listed_mappings mappings;
};

#endif
