/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From the bytes of a debug_answer to names that can be relied upon. */
#ifndef LIB_SYMBOL_DEBUG_ITEMS_H
#define LIB_SYMBOL_DEBUG_ITEMS_H

#include "debug_naming.h"
#include "debug_service.h"

/* What was answered to one question. */
struct debug_names {
	struct debug_name *names; /* by place */
	u32 count;
	struct code_place *functions;
	u32 function_count;

	u64 *asked; /* ascending; those without a name are known to have none */
	u32 asked_count;
	char *data; /* texts and items */
	u64 bytes;
	u32 text_bytes;

	struct debug_names *next; /* answers to other questions about the same code */
};

/* Takes over `data` (answer->bytes of them) where it succeeds. -EBADMSG: they make no sense. */
int debug_items_take(char *data, const struct debug_answer *answer, const u64 *places, u32 count,
		     bool is_kernel, struct debug_names **out);

/* Whether one of the questions was about this place. */
bool debug_items_asked(const struct debug_names *names, u64 place);

#endif
