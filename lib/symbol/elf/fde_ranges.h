/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which code is one function, of files that have lost their symbols: every function that can be
 * unwound has an entry (FDE) in .eh_frame, which tells where it begins and ends. A part that the
 * compiler has moved away (.cold) has an entry of its own.
 */
#ifndef LIB_SYMBOL_FDE_RANGES_H
#define LIB_SYMBOL_FDE_RANGES_H

#include <libelf.h>

#include "elf_segment.h"
#include "symbol/table/symbol_table.h"

/* Adds what each entry covers as a symbol with the name "", by file offset; seals the table. Any
 * bytes may be given: of a damaged table what comes before the damage counts. 0, -ENOMEM or -E2BIG.
 */
int fde_ranges_add(Elf *elf, const struct elf_segments *segments, struct symbol_table *table);

#endif
