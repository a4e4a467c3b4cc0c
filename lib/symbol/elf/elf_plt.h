/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names for the stubs of the procedure linkage table: "malloc@plt". They have no symbols of their
 * own. */
#ifndef LIB_SYMBOL_ELF_PLT_H
#define LIB_SYMBOL_ELF_PLT_H

#include <libelf.h>

#include "elf_segment.h"
#include "symbol/table/symbol_table.h"

/* x86-64 only; adds nothing for other machines. 0, -ENOMEM or -E2BIG. */
int elf_plt_add(Elf *elf, const struct elf_segments *segments, struct symbol_table *table);

#endif
