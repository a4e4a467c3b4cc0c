/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GNU build id of an ELF image that is mapped into memory. */
#ifndef CORE_ELF_BUILD_ID_H
#define CORE_ELF_BUILD_ID_H

#include <stdbool.h>

#include "env.h"
#include "mapping.h"

/* Where the file's first bytes are mapped. The search keeps its place here. */
struct elf_build_id {
	u64 image;
	u64 bytes; /* mapped from there on, in the order of the file */
	u64 at;	   /* of the current note, from `image` on */
	u64 end;   /* of these notes */
	u64 segments_at;
	u64 number;   /* that was read last */
	u16 segments; /* program headers: how many there are, and where the first one is */
	u16 class;    /* of words: ELFCLASS32, ELFCLASS64 */
	u16 is_unreadable;
	u16 id_bytes; /* what was found; 0: nothing */
	u8 id[MAPPING_BUILD_ID_MAX];
};

/* For the embedder to write: memory at an address, false if it cannot be read. */
CORE_INLINE bool elf_read(u64 address, void *buffer, u32 bytes);

/* From `image` and `bytes`, all else zero: the bytes of the id; 0 if the image has none, or one
 * that is longer; -EAGAIN if not all that had to be was readable. */
CORE_INLINE int elf_build_id_find(struct elf_build_id *search);

#endif
