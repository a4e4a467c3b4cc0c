/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An address space for tests of the unwinder: one range of memory, all of it code. */
#ifndef TESTS_UNIT_CORE_UNWIND_MEMORY_H
#define TESTS_UNIT_CORE_UNWIND_MEMORY_H

#include "unwind/unwind.h"

#define MEMORY_BASE 0x10000ULL
#define MEMORY_FRAME(pc) FRAME_USER(1, (pc)-MEMORY_BASE)

extern struct rule_cache *memory_rules; /* the cache of rules; NULL: no cache */
extern u64 memory_image; /* address of offset 0 of the memory's file; 0: generated code */

extern u32 memory_block; /* size of the blocks that become available one by one; 0: all is there */
extern u32 memory_waits; /* number of waits for a block */

/* The memory is of a file whose image cannot be found. */
#define MEMORY_IMAGE_LOST 1

/* Resets everything: `memory` lies at MEMORY_BASE, every register is known and 0, all caches are
 * empty. `memory` must stay valid as long as it is read. */
void memory_set(struct unwind *unwind, const void *memory, u32 bytes);

#endif
