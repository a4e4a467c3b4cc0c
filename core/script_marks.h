/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of interpreters' loops that a walk up a stack notes (abi/script.h). */
#ifndef CORE_SCRIPT_MARKS_H
#define CORE_SCRIPT_MARKS_H

#include "env.h"
#include "script.h"

CORE_PART void script_marks_clear(struct script_marks *marks)
{
	marks->count = marks->missed = 0;
}

/* Adds the frame of a loop. A frame that is walked again replaces itself. */
CORE_PART void script_marks_add(struct script_marks *marks, const struct script_mark *mark)
{
	u32 count = marks->count, last = count - 1, slot;

	core_one_register(last);
	if (count && marks->mark[last & (SCRIPT_MARKS_MAX - 1)].index == mark->index)
		count--;
	if (count >= SCRIPT_MARKS_MAX) {
		marks->missed++;
		return;
	}
	slot = count;
	core_one_register(slot);
	marks->mark[slot & (SCRIPT_MARKS_MAX - 1)] = *mark;
	marks->count = count + 1;
}

#endif
