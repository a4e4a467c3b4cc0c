/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols of files that were answered before, by the number of their mapping, which means one file
 * as it was written once (abi/mapping.h). A recorder of many windows meets the same functions in
 * each of them, and the table of a file is made anew for each question.
 *
 * Known are whole functions, where no other symbol begins in them, and else single addresses. Its
 * memory is bounded: when it is full, it forgets all.
 */
#ifndef LIB_SYMBOL_SYMBOL_MEMO_H
#define LIB_SYMBOL_SYMBOL_MEMO_H

#include "mapping.h"
#include "symbol_lookup.h"

struct memo_range;
struct memo_symbol;

struct memo_file {
	struct memo_range *ranges; /* ascending, apart from each other */
	u32 count, room;
};

/* All zero but for `most`: empty. */
struct symbol_memo {
	u64 most; /* bytes */
	struct memo_file files[MAPPINGS_MAX];
	struct memo_symbol *symbols;
	char *names;
	u32 range_count, symbol_count, symbol_room, name_bytes, name_room;
	u32 answer; /* first symbol of the answer in work */
};

void symbol_memo_free(struct symbol_memo *memo);

/* Calls `each` for the symbols that are known to cover an address, each once. *count: the addresses
 * of which nothing is known, which stand first then. The first non-zero return ends it and is
 * returned. */
int symbol_memo_recall(const struct symbol_memo *memo, u32 number, u64 *addresses, u32 *count,
		       int (*each)(void *arg, const struct trace_symbol *symbol), void *arg);

/* An answer: first its symbols, ascending; then the addresses, ascending, that they cover as far as
 * a symbol does. -ENOMEM: what is known is true, but may be less. */
int symbol_memo_add(struct symbol_memo *memo, const struct trace_symbol *symbol, bool is_alone);
int symbol_memo_answered(struct symbol_memo *memo, u32 number, const u64 *addresses, u32 count);

/* The symbols that were added since the last answer do not count. */
void symbol_memo_drop(struct symbol_memo *memo);

#endif
