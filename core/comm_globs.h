/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All globs of --comm are tried at once against the name of a task: 16 bytes, zeros behind the
 * text. The method is Shift-And (Baeza-Yates and Gonnet, CACM 35/10, 1992), with the states of
 * stars as in Navarro and Raffinot, "Flexible Pattern Matching in Strings", chapter 4.
 *
 * A glob of n elements (bytes, `?` and sets; a star is no element) has n + 2 states, a bit each:
 * state i means that i elements have matched, state n + 1 that the text has ended, too. A byte
 * takes a state to the next one if the next element has the byte. A state in front of a star also
 * stays, and so does the last one. The first states of globs have no element that leads to them.
 *
 * Each byte costs one load from a table, without a branch.
 */
#ifndef CORE_COMM_GLOBS_H
#define CORE_COMM_GLOBS_H

#include <stdbool.h>

#include "config.h"
#include "env.h"

CORE_PART bool comm_globs_match(const volatile struct comm_globs *globs, const u8 *comm)
{
	u64 states = globs->first, stays = globs->stays;

	for (u32 i = 0; i < COMM_BYTES; i++)
		states = (states << 1 & globs->enters[comm[i]]) | (states & stays);
	return states & globs->last;
}

#endif
