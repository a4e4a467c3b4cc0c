/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of places from debug information, made of the bytes of a debug_answer
 * (debug_service.h), which are checked. */
#ifndef LIB_SYMBOL_DEBUG_ITEMS_H
#define LIB_SYMBOL_DEBUG_ITEMS_H

#include "scalar.h"
#include "symbol/elf/code_place.h"

struct debug_answer;

struct debug_name {
	u64 place;
	const char *symbol; /* name of the symbol; NULL: no symbol is known */
	u64 symbol_start, symbol_size;
	u32 count;
	const struct code_place *functions; /* the functions at the place, the innermost first;
					       `file` in each is the whole path */
};

/* All names of one answer. */
struct debug_names {
	struct debug_name *names; /* sorted by place */
	u32 count;
	struct code_place *functions;
	u32 function_count;
	char *data; /* the bytes of the answer after its head: texts, then items; owned */
};

/* Parses `data`, which has answer->bytes bytes, and takes it over on success. -EBADMSG: the bytes
 * make no sense; -ENOMEM. */
int debug_items_parse_answer(char *data, const struct debug_answer *answer, const u64 *places,
			     u32 count, bool is_kernel, struct debug_names **out);

void debug_names_free(struct debug_names **names);

/* The name of a place; NULL: the place has none. `names` may be NULL. */
const struct debug_name *debug_names_at(const struct debug_names *names, u64 place);

#endif
