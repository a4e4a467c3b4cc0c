/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef STACKMAP_ABI_ADDRESS_SPACE_H
#define STACKMAP_ABI_ADDRESS_SPACE_H

#include "scalar.h"

/* Whose address space an entry speaks of, and as of when. The address of an mm is used again;
 * together with the process and its execve count it is not. */
struct address_space {
	u64 mm;
	u64 process; /* start time of the process */
	u32 execs;
	u32 sequence; /* mm->mm_lock_seq: moves with every change of the mappings; odd: changing */
};
ABI_SIZE(struct address_space, 24);

#endif
