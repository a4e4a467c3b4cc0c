/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's symbols in a process that needs them again and again. Symbols of static code (image
 * and modules) are kept as long as the modules stay the same. BPF programs come and go, so the end
 * of kallsyms, which lists them, is read each time.
 */
#ifndef LIB_SYMBOL_KERNEL_SYMBOLS_H
#define LIB_SYMBOL_KERNEL_SYMBOLS_H

#include <stdbool.h>

#include "symbol/table/symbol_table.h"

/* `files`: open kallsyms and modules, and a copy of both, which is read as long as it is of the
 * same modules; -1: not there. Fills and seals a table with the symbols of static code that cover
 * these addresses, which ascend. *passing: symbols of other code, for the caller to free; NULL: all
 * addresses are static, or the list has no other code. 0 or -errno. */
int kernel_symbols_load(const u64 *addresses, u32 count, const int files[4],
			struct symbol_table *table, struct symbol_table **passing);

/* True if an address lies in static code. */
bool kernel_symbols_are_static(u64 address);

#endif
