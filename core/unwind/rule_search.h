/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the rule of a pc in a file without reading tables of the process. The first of these
 * sources with a rule counts:
 *
 *   1. the cache (abi/rule_cache.h): rules of tables, for all processes
 *   2. the cache: rules of this process alone that were found where a row begins
 *   3. the table of the whole file (abi/file_table.h)
 *   4. rules that the unwinder has made from the code when there was no table; they may be guesses
 *   5. rules from the process's own copy of the tables
 *
 * The embedder supplies a function, and those of table_search.h: natively by linking them, in BPF
 * by defining them before it includes rule_search.c.
 */
#ifndef CORE_RULE_SEARCH_H
#define CORE_RULE_SEARCH_H

#include "cached_rule.h"
#include "table_search.h"
#include "walk_memory.h"

/* Defined by the embedder: reads code of the task without a page fault, all bytes or none. */
CORE_INLINE bool rule_search_read(struct rule_search *search, u64 address, void *buffer, u32 bytes);

/*
 * Sets search->rule to the rule of search->place. 0: no rule is known. CFA_BY_CODE: no table covers
 * the code, and no rule made from the code is known.
 */
CORE_GLOBAL int rule_search_find(struct rule_search *search, struct rule_cache *rules);

#endif
