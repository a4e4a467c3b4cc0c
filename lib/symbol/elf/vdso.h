/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The code page that the kernel maps into every process. It is no file: the image is this process's
 * own, which every 64-bit task of the machine shares.
 */
#ifndef LIB_SYMBOL_VDSO_H
#define LIB_SYMBOL_VDSO_H

#include <libelf.h>

/* An ELF of this process's vdso for elf_end(), or NULL if it has none. */
Elf *vdso_open(void);

#endif
