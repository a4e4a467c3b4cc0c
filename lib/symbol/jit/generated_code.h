/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that a runtime has generated, in the order in which it did, with their names copied.
 *
 * It uses memory again: a function that a later one overlaps, even in part, was overwritten and
 * names nothing any more.
 */
#ifndef LIB_SYMBOL_GENERATED_CODE_H
#define LIB_SYMBOL_GENERATED_CODE_H

#include <stddef.h>

#include "symbol/table/symbol_table.h"

#define GENERATED_CODE_MAX (1U << 22)

struct generated_function {
	u64 start;
	u64 end;
	u32 name; /* offset in `names`; its first byte is 0: not known, it only overwrites */
};

/* All 0: nothing. */
struct generated_code {
	struct generated_function *functions; /* the oldest first */
	u32 count;
	u32 capacity;
	char *names;
	size_t name_bytes;
	size_t name_capacity;
};

void generated_code_clear(struct generated_code *code);

/* One that is newer than all before; one that covers nothing, or wraps, is left out. The name has
 * no NUL. 0, -ENOMEM, or -E2BIG. */
int generated_code_add(struct generated_code *code, u64 start, u64 bytes, const char *name,
		       size_t name_bytes);

/* Fills and seals a table with what lies in [base, base + bytes) and was not overwritten, as
 * distances from base. 0, -ENOMEM or -E2BIG. */
struct code_range {
	u64 base;
	u64 bytes;
};
int generated_code_seal(const struct generated_code *code, const struct code_range *range,
			struct symbol_table *table);

#endif
