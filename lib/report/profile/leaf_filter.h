/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which rows of a profile a report is about, by the innermost frame of their stacks (or the marker
 * in its place), as perf report has them with --dsos and --symbols.
 */
#ifndef LIB_REPORT_LEAF_FILTER_H
#define LIB_REPORT_LEAF_FILTER_H

#include "profile.h"
#include "string_list.h"

/* Each text is a list with commas of names or globs; commas inside of brackets do not count:
 * "std::map<int, int>::at,main". All zero: all rows pass. */
struct leaf_filter {
	struct string_list objects, functions;
};

/* Takes all other rows out of the profile. -ENOENT: no frame of its rows has this name, in any
 * place; -ENOMEM. */
int leaf_filter_apply(const struct leaf_filter *filter, struct profile *profile,
		      struct stackmap_error *error);

#endif
