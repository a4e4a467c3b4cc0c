/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the bytes of a debug_answer to names that can be relied upon. */
#ifndef LIB_SYMBOL_DEBUG_ITEMS_H
#define LIB_SYMBOL_DEBUG_ITEMS_H

#include "debug_lookup.h"
#include "debug_service.h"

/* What was answered to one question. */
struct debug_names {
	struct debug_name *names; /* by place */
	u32 count;
	struct code_place *functions;
	u32 function_count;
	char *data; /* texts and items */
};

/* Takes over `data` (answer->bytes of them) where it succeeds. -EBADMSG: they make no sense. */
int debug_items_take(char *data, const struct debug_answer *answer, const u64 *places, u32 count,
		     bool is_kernel, struct debug_names **out);

#endif
