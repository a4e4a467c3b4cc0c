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

/* Finds the address of a symbol that the file exports; false: the file does not export it. */
bool elf_words_exported_address(Elf *elf, const char *name, u64 *address);

/* Returns the file's bytes from an address on, valid as long as the Elf; NULL: they are not all in
 * one section. */
const u8 *elf_words_bytes(Elf *elf, u64 address, u64 bytes);

/* Returns the number of bytes from an address to the end of its section; 0: the file has no bytes
 * at the address. */
u64 elf_words_bytes_to_section_end(Elf *elf, u64 address);

/* Returns the string at an address; NULL: the section holds no string with its NUL there. */
const char *elf_words_text(Elf *elf, u64 address);

/* Returns the address that the word at `address` holds once the file is loaded, as an address of
 * the file; 0: the word holds no such address. */
u64 elf_words_pointer(Elf *elf, u64 address);

#endif
