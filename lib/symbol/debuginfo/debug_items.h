/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks the bytes of a debug_answer (debug_service.h) and makes names of them. */
#ifndef LIB_SYMBOL_DEBUG_ITEMS_H
#define LIB_SYMBOL_DEBUG_ITEMS_H

#include "debug_lookup.h"
#include "debug_service.h"

/* The names of one answer. */
struct debug_names {
	struct debug_name *names; /* sorted by place */
	u32 count;
	struct code_place *functions;
	u32 function_count;
	char *data; /* texts and items */
};

/* Takes over `data`, of answer->bytes, on success. -EBADMSG: the bytes make no sense; -ENOMEM. */
int debug_items_take(char *data, const struct debug_answer *answer, const u64 *places, u32 count,
		     bool is_kernel, struct debug_names **out);

#endif
