/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where an ELF file has code, by its section headers. DWARF also tells of functions that the linker
 * has thrown away: it leaves 0 where their address was, or, for lld, the last one that there is.
 * Some files really begin at 0, so it is the sections that say whether there is code at an address.
 * The segments do not: the first one often begins at 0, too, with the headers of the file.
 */
#ifndef LIB_SYMBOL_ELF_TEXT_H
#define LIB_SYMBOL_ELF_TEXT_H

#include <libelf.h>

#include "symbol/table/code_ranges.h"

/* The sections of code of the file that has the DWARF: one that was split off another has their
 * headers, too. 0 or -ENOMEM. */
int elf_text_read(Elf *elf, struct code_ranges *text);

bool elf_text_holds(const struct code_ranges *text, u64 address);

#endif
