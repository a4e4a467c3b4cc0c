/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects rows of a profile by the innermost frame of their stacks (or the marker in its place), as
 * perf report does with --dsos and --symbols.
 */
#ifndef LIB_REPORT_LEAF_FILTER_H
#define LIB_REPORT_LEAF_FILTER_H

#include "profile.h"
#include "string_list.h"

/* Each text is a comma-separated list of names or globs; commas within brackets are part of a
 * name: "std::map<int, int>::at,main". All zero: all rows pass. */
struct leaf_filter {
	struct string_list objects, functions;
};

/* Removes all other rows from the profile. -ENOENT: no frame of the rows matches, at any depth;
 * -ENOMEM. */
int leaf_filter_apply(const struct leaf_filter *filter, struct profile *profile,
		      struct stackmap_error *error);

#endif
