/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An address space for tests of the unwinder: one range of memory, all of it code. */
#ifndef TESTS_UNIT_CORE_UNWIND_MEMORY_H
#define TESTS_UNIT_CORE_UNWIND_MEMORY_H

#include "unwind/unwind.h"

#define MEMORY_BASE 0x10000ULL
#define MEMORY_FRAME(pc) FRAME_USER(1, (pc)-MEMORY_BASE)

extern struct rule_cache *memory_rules; /* asked first, gets what is found; NULL: there is none */
extern u64 memory_image; /* where the memory's file begins; 0: it is generated code */

extern u32 memory_block; /* bytes that come at once, each block when it was waited for; 0: all is
			    there */
extern u32 memory_waits; /* blocks that were waited for */

/* It is a file, but on being asked for its image nobody knows. */
#define MEMORY_IMAGE_LOST 1

/* Starts anew: `memory` lies at MEMORY_BASE, every register is known and 0, nothing was learned. It
 * has to live as long as it is read. */
void memory_set(struct unwind *unwind, const void *memory, u32 bytes);

#endif
