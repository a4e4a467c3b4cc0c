/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions that a runtime has generated, in the order of their generation, with copies of
 * their names. Runtimes reuse memory: a function that a later one overlaps, even in part, was
 * overwritten and gives no symbol.
 */
#ifndef LIB_SYMBOL_GENERATED_CODE_H
#define LIB_SYMBOL_GENERATED_CODE_H

#include <stddef.h>

#include "symbol/table/symbol_table.h"

#define GENERATED_CODE_MAX (1U << 22)

struct generated_function {
	u64 start;
	u64 end;
	u32 name; /* offset of the name in `names`. An empty name: the function has no known name,
		     and only ends older functions at its addresses */
};

/* The functions that a runtime has generated. All zero = empty. */
struct generated_code {
	struct generated_function *functions; /* the oldest first */
	u32 count;
	u32 capacity;
	char *names;
	size_t name_bytes;
	size_t name_capacity;
};

void generated_code_clear(struct generated_code *code);

/* Adds a function that is newer than all before. A function without bytes, or whose end wraps, is
 * left out. The name has no NUL. 0, -ENOMEM, or -E2BIG. */
int generated_code_add(struct generated_code *code, u64 start, u64 bytes, const char *name,
		       size_t name_bytes);

/* Fills and seals a table with the functions in [base, base + bytes) that were not overwritten; the
 * symbols' addresses are distances from `base`. 0, -ENOMEM or -E2BIG. */
int generated_code_seal(const struct generated_code *code, u64 base, u64 bytes,
			struct symbol_table *table);

#endif
