/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Initialised data of an ELF file, by address, as the data is once the file is loaded: words that
 * hold an address of the same file often get it from a relocation only.
 *
 * The file may hold any bytes: no read leaves its sections.
 */
#ifndef LIB_SYMBOL_ELF_WORDS_H
#define LIB_SYMBOL_ELF_WORDS_H

#include <libelf.h>
#include <stdbool.h>

#include "scalar.h"

/* The address of a symbol that the file exports. */
bool elf_words_export(Elf *elf, const char *name, u64 *address);

/* Bytes that the file has at an address, valid as long as the Elf; NULL: not all of them lie in one
 * section. */
const u8 *elf_words_bytes(Elf *elf, u64 address, u64 bytes);

/* Bytes from an address to the end of its section; 0: the file has none there. */
u64 elf_words_left(Elf *elf, u64 address);

/* A string with its end; NULL: none is there. */
const char *elf_words_text(Elf *elf, u64 address);

/* An address of the file that the word at `address` holds; 0: the word holds no such address. */
u64 elf_words_pointer(Elf *elf, u64 address);

#endif
