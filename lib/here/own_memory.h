/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory of this process for an unwinder: reads without a fault, and a lookup of the code at an
 * address. Async-signal-safe, errno included.
 */
#ifndef LIB_HERE_OWN_MEMORY_H
#define LIB_HERE_OWN_MEMORY_H

#include <stdbool.h>

#include "scalar.h"

#define OWN_BLOCK 256U /* within one page: readable as a whole, or not at all */
#define OWN_BLOCKS 16U

/* All zero at first. Valid for one walk, which assumes that read blocks do not change. */
struct own_memory {
	int process;	     /* process id; 0: not read yet */
	int error;	     /* -errno of the last read that failed */
	u64 tag[OWN_BLOCKS]; /* address of the block + 1; 0: empty */
	u8 block[OWN_BLOCKS][OWN_BLOCK];
};

/* Reads all bytes or none. */
bool own_memory_read(struct own_memory *memory, u64 address, void *buffer, u32 bytes);

struct own_code {
	u64 start;
	u64 end;
	u64 image; /* address of the ELF header; 0: code without a file */
};

/* Finds the executable memory at an address. */
bool own_memory_code(struct own_memory *memory, u64 address, struct own_code *code);

#endif
