/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GNU build id among the notes of an ELF image. */
#ifndef LIB_SYMBOL_BUILD_ID_H
#define LIB_SYMBOL_BUILD_ID_H

#include <libelf.h>
#include <stddef.h>

#include "scalar.h"

/* Both return the bytes written (<= TRACE_BUILD_ID_MAX), 0 if there is none. Of a file the first 32
 * parts with notes are read, the first 64 KiB of each. */
int build_id_from_notes(const void *notes, size_t bytes, u8 *build_id);
int build_id_from_elf(Elf *elf, u8 *build_id);

#endif
