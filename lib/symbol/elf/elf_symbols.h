/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an ELF file, by file offset: user frames are file offsets, so one table serves
 * all processes that map the file. The file may hold any bytes: a damaged file gives an error, or
 * those symbols that make sense.
 */
#ifndef LIB_SYMBOL_ELF_SYMBOLS_H
#define LIB_SYMBOL_ELF_SYMBOLS_H

#include <libelf.h>

#include "elf_layout.h"
#include "symbol/table/symbol_table.h"

/* Adds .symtab or else .gopclntab, .dynsym and the stubs of the PLT, and seals the table, also on
 * failure. -ENOEXEC: not an ELF program or library; -ENOMEM, -E2BIG. */
int elf_symbols_add(Elf *elf, struct symbol_table *table);

/* Adds the symbols of a debug file that was split off; `segments` are those of the file that was
 * mapped. The table is not sealed: symbols of other files may follow. */
int elf_symbols_collect(Elf *elf, const struct elf_segments *segments, struct symbol_table *table);

/* The number of bytes in the sections of symbols and of their names, by the section headers. */
u64 elf_symbols_bytes(Elf *elf);

/* Finds the value of the first symbol of this name in .symtab; false: .symtab has no such
 * symbol. */
bool elf_symbol_address(Elf *elf, const char *name, u64 *address);

#endif
