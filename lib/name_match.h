/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches one name or glob against a sequence of names: counts the matches, and remembers the
 * nearest other name for a "did you mean".
 */
#ifndef LIB_NAME_MATCH_H
#define LIB_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

#define NAME_NEAREST_BYTES 128

struct name_match {
	const char *pattern;
	bool is_glob;
	u32 found;
	u32 distance; /* distance of `nearest` from the pattern; names that are not nearer are
			 ignored */
	char nearest[NAME_NEAREST_BYTES]; /* the nearest name so far; "" while no name is near
					     enough */
};

/* Begins a match against `pattern`, which must outlive the match. */
void name_match_init(struct name_match *match, const char *pattern);

bool name_match_compare_name(struct name_match *match, const char *name);

/*
 * Returns the number of edits (insert, delete, replace, swap two neighbours) that turn one name
 * into the other; `limit` if as many or more are needed.
 */
u32 name_distance(const char *a, const char *b, u32 limit);

#endif
