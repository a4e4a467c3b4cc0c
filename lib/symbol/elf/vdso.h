/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The vdso: a page of code that the kernel maps into each process, without a file. All 64-bit tasks
 * of the machine share one image, so the image of this process serves for all.
 */
#ifndef LIB_SYMBOL_VDSO_H
#define LIB_SYMBOL_VDSO_H

#include <libelf.h>

/* Opens the vdso of this process; the caller calls elf_end(). NULL: the process has no vdso. */
Elf *vdso_open(void);

#endif
