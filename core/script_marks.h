/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of interpreters' loops that a walk up a stack notes (abi/script.h). */
#ifndef CORE_SCRIPT_MARKS_H
#define CORE_SCRIPT_MARKS_H

#include <stddef.h>

#include "env.h"
#include "script.h"

CORE_PART void script_marks_clear(struct script_marks *marks)
{
	marks->count = marks->missed = 0;
}

/*
 * Adds an element for the native frame of a loop and returns the element; NULL: all elements are
 * used. If the last element is of the same frame, walked before, that element is returned.
 */
CORE_PART struct script_mark *script_marks_add(struct script_marks *marks, u64 index)
{
	u32 count = marks->count, last = count - 1, slot;

	core_one_register(last);
	if (count && marks->mark[last & (SCRIPT_MARKS_MAX - 1)].index == index)
		count--;
	if (count >= SCRIPT_MARKS_MAX) {
		marks->missed++;
		return NULL;
	}
	slot = count;
	core_one_register(slot);
	marks->count = count + 1;
	marks->mark[slot & (SCRIPT_MARKS_MAX - 1)].index = index;
	return &marks->mark[slot & (SCRIPT_MARKS_MAX - 1)];
}

#endif
