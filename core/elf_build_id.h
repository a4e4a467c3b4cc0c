/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The GNU build id of an ELF image that is mapped into memory. */
#ifndef CORE_ELF_BUILD_ID_H
#define CORE_ELF_BUILD_ID_H

#include <stdbool.h>

#include "env.h"
#include "mapping.h"

/*
 * The state of a search. The caller sets `image` and `bytes`; all other members are the search's
 * own, or its result.
 */
struct elf_build_id {
	u64 image;
	u64 bytes; /* number of mapped bytes from `image` on, in the order of the file */
	u64 at;	   /* offset of the current note from `image` */
	u64 end;   /* end of the notes of this segment */
	u64 segments_at;
	u64 number;   /* the number that read_elf_image_number() read last */
	u16 segments; /* number of program headers, the first at segments_at */
	u16 class;    /* ELFCLASS32 or ELFCLASS64 */
	u16 is_unreadable;
	u16 id_bytes; /* length of `id` in bytes; 0: no build id found */
	u8 id[MAPPING_BUILD_ID_MAX];
};

/* Defined by the embedder: reads memory at an address; false if that fails. */
CORE_INLINE bool elf_read(u64 address, void *buffer, u32 bytes);

/*
 * Searches `bytes` at `image`; the other members are zero at first. Returns the bytes of the id; 0
 * if the image has no id, or a longer one; -EAGAIN if memory that the search needs is unreadable.
 */
CORE_INLINE int elf_build_id_find(struct elf_build_id *search);

#endif
