/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Slots of a rule. */
#ifndef CORE_UNWIND_SLOT_H
#define CORE_UNWIND_SLOT_H

#include "rule.h"

#define SLOT_WORD 8U

/* The slot of what is saved at base + offset. Those above the base, too far below or not at a whole
 * word are lost. */
static inline u8 slot_below(s64 offset)
{
	u64 distance = -(u64)offset; /* huge for what is above */

	if (distance % SLOT_WORD || !distance || distance > SLOT_WORDS_MAX * SLOT_WORD)
		return SLOT_LOST;
	return distance / SLOT_WORD;
}

#endif
