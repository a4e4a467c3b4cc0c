/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The call chain that chain.c reports. */
#ifndef TESTS_UNIT_USER_UNWIND_CHAIN_H
#define TESTS_UNIT_USER_UNWIND_CHAIN_H

#include "scalar.h"

#define CHAIN_LENGTH 4

struct chain {
	u64 count;
	u64 address[CHAIN_LENGTH]; /* innermost first */
};

#endif
