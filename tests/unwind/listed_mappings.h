/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The mappings of a task that a BPF program unwinds, listed by the loader beforehand. */
#ifndef TESTS_UNWIND_LISTED_MAPPINGS_H
#define TESTS_UNWIND_LISTED_MAPPINGS_H

#include "scalar.h"

#define LISTED_MAPPINGS_MAX 1024

struct listed_mapping {
	u64 start, end, image;
};

struct listed_mappings {
	u32 count;
	u32 reserved;
	struct listed_mapping item[LISTED_MAPPINGS_MAX];
};

#endif
