/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A search for the rule of a pc in a file (core/unwind/rule_search.h). */
#ifndef STACKMAP_ABI_RULE_SEARCH_MEMORY_H
#define STACKMAP_ABI_RULE_SEARCH_MEMORY_H

#include "address_space.h"
#include "file_table.h"
#include "rule_cache.h"
#include "scalar.h"

struct rule_search {
	/* Input: */
	struct address_space space;
	u64 place; /* place of the pc, as in struct rule_key */
	u64 pc;

	/* Output: */
	struct unwind_rule rule;
	u32 is_lasting;	 /* 1: the rule holds in every process and as long as the file exists */
	u32 is_listed;	 /* 1: the file's table says that it does not cover the code */
	u32 table_steps; /* rules found in tables of whole files; the owner sets it to 0 */

	/* State of the search: */
	struct file_table_search table;
	u64 word; /* the code before the pc */
};

#endif
