/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's symbols in a process that is asked for them again and again. They are kept for what
 * is called the same as long as the modules are the same. Programs of BPF come and go: of them the
 * end of the list is read each time.
 */
#ifndef LIB_SYMBOL_KERNEL_SYMBOLS_H
#define LIB_SYMBOL_KERNEL_SYMBOLS_H

#include <stdbool.h>

#include "symbol/table/symbol_table.h"

/* Open kallsyms and modules; *kept: valid until the next call. *passing: for the addresses that do
 * not last, which the caller frees; NULL: all last, or the list has nothing else. -errno. */
int kernel_symbols_load(const u64 *addresses, u32 count, const int files[2],
			struct symbol_table **kept, struct symbol_table **passing);

/* Whether an address lies in what lasts. */
bool kernel_symbols_last(u64 address);

#endif
