/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef STACKMAP_ABI_ADDRESS_SPACE_H
#define STACKMAP_ABI_ADDRESS_SPACE_H

#include "scalar.h"

/*
 * The address space that an entry belongs to, and its state. The kernel reuses the address of an
 * mm; the address together with the process and its execve count is unique.
 */
struct address_space {
	u64 mm;
	u64 process; /* start time of the process */
	u32 execs;
	u32 sequence; /* mm->mm_lock_seq: changes with the mappings; odd while they change */
};
ABI_SIZE(struct address_space, 24);

#endif
