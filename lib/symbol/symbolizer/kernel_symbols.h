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

/* Fills and seals a table with the symbols of static code that cover the addresses, which ascend.
 * `files`: open /proc/kallsyms, open /proc/modules, a copy of each; -1 = not there. The copies are
 * read instead as long as the loaded modules are the same. *passing: symbols of other code, for the
 * caller to free; NULL: all addresses are in static code, or kallsyms has no other code. 0 or
 * -errno. */
int kernel_symbols_load(const u64 *addresses, u32 count, const int files[4],
			struct symbol_table *table, struct symbol_table **passing);

/* True if an address lies in static code. */
bool kernel_symbols_is_static_code(u64 address);

#endif
