/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An ELF file whose sections are compressed with zstd (ELFCOMPRESS_ZSTD), which libelf before 0.189
 * cannot read: a copy of the file in memory, with these sections unpacked behind its end.
 */
#ifndef LIB_SYMBOL_UNPACKED_ELF_H
#define LIB_SYMBOL_UNPACKED_ELF_H

#include <libelf.h>
#include <stdbool.h>

#include "scalar.h"

/* Any bytes may be given. The copy, whose memory the caller frees after elf_end(); NULL: nothing is
 * compressed so, or it cannot be unpacked. */
Elf *unpacked_elf_open(Elf *elf, char **memory);

/* Whether a section is compressed with zstd. */
bool unpacked_elf_is_needed(Elf *elf);

#endif
