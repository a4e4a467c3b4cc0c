/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbol table that some distributions leave in stripped files: an ELF file, compressed by xz,
 * in the section .gnu_debugdata. */
#ifndef LIB_SYMBOL_MINI_DEBUG_H
#define LIB_SYMBOL_MINI_DEBUG_H

#include <libelf.h>

#include "scalar.h"

struct mini_debug {
	u8 *bytes;
	Elf *elf;
};

/* The ELF that it holds, or NULL. Any bytes may be given. */
Elf *mini_debug_open(Elf *elf, struct mini_debug *mini);
void mini_debug_close(struct mini_debug *mini);

#endif
