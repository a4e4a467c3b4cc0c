/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distinct frames of a recording, each with the ways to look it up: as a pc, as a return
 * address, or both. */
#ifndef LIB_TRACE_FRAME_SET_H
#define LIB_TRACE_FRAME_SET_H

#include <stdbool.h>

#include "scalar.h"

enum frame_use { FRAME_EXACT = 1 << 0, FRAME_RETURN_ADDRESS = 1 << 1 };

/* All zero: an empty set. */
struct frame_set {
	u64 *frames; /* open addressing, 0 = free: no frame is 0 */
	u8 *uses;    /* enum frame_use, as bits */
	u32 bits;    /* 2^bits slots */
	u32 count;   /* at most half of the slots */
};

/* `uses`: enum frame_use, as bits. Frame 0 is left out. -ENOMEM. */
int frame_set_add(struct frame_set *set, u64 frame, u32 uses);
/* Stops at the first non-zero result, which is returned. */
int frame_set_each(const struct frame_set *set,
		   int (*each)(void *arg, u64 frame, bool return_address), void *arg);
void frame_set_free(struct frame_set *set);

#endif
