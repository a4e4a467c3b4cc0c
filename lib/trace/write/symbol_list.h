/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbols waiting to be written: taken in any order and any number of times, given out once each by
 * mapping and address. */
#ifndef LIB_TRACE_SYMBOL_LIST_H
#define LIB_TRACE_SYMBOL_LIST_H

#include "trace/bytes/byte_buffer.h"
#include "trace/event.h"

struct symbol_list {
	struct symbol_entry *entries;
	u32 count;
	u32 room;
	struct byte_buffer names;
};

int symbol_list_add(struct symbol_list *list, const struct trace_symbol *symbol); /* -ENOMEM */
/* Stops at the first non-zero return and returns it. The list is sorted by it, and not emptied. */
int symbol_list_each(struct symbol_list *list,
		     int (*each)(void *arg, const struct trace_symbol *symbol), void *arg);
void symbol_list_clear(struct symbol_list *list);
void symbol_list_free(struct symbol_list *list);

#endif
