/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file, by file offset: user frames are file offsets, so the same table
 * serves every process that maps the file. Any bytes may be given: a damaged file gives an error or
 * what is sound of it.
 */
#ifndef LIB_SYMBOL_ELF_SYMBOLS_H
#define LIB_SYMBOL_ELF_SYMBOLS_H

#include <libelf.h>

#include "elf_segment.h"
#include "symbol/table/symbol_table.h"

/* Adds .symtab, .dynsym and the PLT's stubs; seals the table. -ENOEXEC: not an ELF program or
 * library. The table is sealed then, too. */
int elf_symbols_add(Elf *elf, struct symbol_table *table);

/* The same of a file that was split off another one, whose segments say where code lies. The table
 * is not sealed: more may come. */
int elf_symbols_collect(Elf *elf, const struct elf_segments *segments, struct symbol_table *table);

#endif
