/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the code of a store lies in a recording that is made of it: user objects get mapping
 * numbers, those of the kernel addresses at which no kernel has anything. What is called by its
 * address keeps it.
 *
 *   user     mapping number of the object, offset
 *   kernel   1 << 63 | number << 40 | offset from where it was loaded
 *
 * Functions that were inlined are frames of their own, as reports show them: each name of an object
 * has a place in one more mapping of it, where nothing else is.
 */
#ifndef LIB_STORE_READ_PLACED_CODE_H
#define LIB_STORE_READ_PLACED_CODE_H

#include "store/read/code.h"
#include "trace/write/writer.h"

struct placed_code;

/* A stack as events name it. */
struct placed_stack {
	bool is_made;
	u64 leaf;
	u32 kernel, user; /* indexes, or TRACE_NO_STACK */
	u32 kernel_flags, user_flags;
	u8 kernel_reason, user_reason;
};

int placed_code_create(const struct store_code *code, bool no_inlined, struct trace_writer *writer,
		       struct placed_code **out);
void placed_code_free(struct placed_code **placed);

/* Writes what was not written yet of the stack of this number. 0, or -errno. */
int placed_code_stack(struct placed_code *placed, u32 number, const struct placed_stack **stack);

#endif
