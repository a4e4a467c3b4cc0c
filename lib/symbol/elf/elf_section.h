/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sections of an ELF file, by name. */
#ifndef LIB_SYMBOL_ELF_SECTION_H
#define LIB_SYMBOL_ELF_SECTION_H

#include <gelf.h>

/* The first one of this name that has bytes in the file, and its header; or NULL. */
Elf_Scn *elf_section_find(Elf *elf, const char *name, GElf_Shdr *header);

#endif
