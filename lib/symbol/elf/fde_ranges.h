/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The bounds of functions in files without symbols: each function that can be unwound has an entry
 * (FDE) in .eh_frame with its begin and length. A part that the compiler has moved away (.cold) has
 * an entry of its own.
 */
#ifndef LIB_SYMBOL_FDE_RANGES_H
#define LIB_SYMBOL_FDE_RANGES_H

#include <libelf.h>

#include "elf_layout.h"
#include "symbol/table/symbol_table.h"

/* Adds the address range of each FDE as a symbol with the name "", by file offset, and seals the
 * table. The file may hold any bytes: entries before the first damage count. 0, -ENOMEM or
 * -E2BIG. */
int fde_ranges_add(Elf *elf, const struct elf_segments *segments, struct symbol_table *table);

#endif
