/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GNU build id among the notes of an ELF image. */
#ifndef LIB_SYMBOL_BUILD_ID_H
#define LIB_SYMBOL_BUILD_ID_H

#include <libelf.h>
#include <stddef.h>

#include "scalar.h"

/* Both functions return the bytes of the build id (<= TRACE_BUILD_ID_MAX); 0: no build id found.
 * build_id_from_elf() reads at most 32 sections and 32 segments with notes, and the first 64 KiB of
 * each. */
int build_id_from_notes(const void *notes, size_t bytes, u8 *build_id);
int build_id_from_elf(Elf *elf, u8 *build_id);

#endif
