/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols from earlier answers, by the number of a mapping, which stands for one version of one
 * file (abi/mapping.h). A recorder of many windows meets the same functions in each window, and the
 * sandbox makes the table of a file again for each request.
 *
 * A symbol is cached for its whole range if no other symbol lies in the range, else for single
 * addresses. When the cache is full, it is emptied.
 */
#ifndef LIB_SYMBOL_SYMBOL_CACHE_H
#define LIB_SYMBOL_SYMBOL_CACHE_H

#include "mapping.h"
#include "symbol_lookup.h"

struct cache_range;
struct cache_symbol;

struct cache_file {
	struct cache_range *ranges; /* ascending, without overlap */
	u32 count, room;
};

/* The cache. It is empty if all members but `most` are zero. */
struct symbol_cache {
	u64 most; /* the most bytes of memory that the cache takes */
	struct cache_file files[MAPPINGS_MAX];
	struct cache_symbol *symbols;
	char *names;
	u32 range_count, symbol_count, symbol_room, name_bytes, name_room;
	u32 answer; /* index of the first symbol of the answer that is being added */
};

void symbol_cache_free(struct symbol_cache *cache);

/* Calls each() once for each cached symbol that covers an address. Addresses that are not cached
 * are moved to the front, and *count is their number. Stops at the first non-zero return and
 * returns it.
 */
int symbol_cache_find(const struct symbol_cache *cache, u32 number, u64 *addresses, u32 *count,
		      int (*each)(void *arg, const struct trace_symbol *symbol), void *arg);

/* Adds an answer: first its symbols, ascending; then the requested addresses, ascending. -ENOMEM:
 * the cache is correct, but may be incomplete. */
int symbol_cache_add(struct symbol_cache *cache, const struct trace_symbol *symbol,
		     bool is_undivided);
int symbol_cache_add_answered_ranges(struct symbol_cache *cache, u32 number, const u64 *addresses,
				     u32 count);

/* Drops the symbols that were added since the last symbol_cache_add_answered_ranges(). */
void symbol_cache_drop(struct symbol_cache *cache);

#endif
