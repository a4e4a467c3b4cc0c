/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of a profile whose names, or files, match a pattern. */
#ifndef LIB_REPORT_FUNCTION_SET_H
#define LIB_REPORT_FUNCTION_SET_H

#include "array.h"
#include "profile.h"

/* A set of all zeros is empty. */
struct function_set {
	bool *has; /* by label id: true if the label is in the set */
	u32 labels;
};

/* `pattern` is a name or a glob. -ENOENT if no label matches: the error names the nearest. */
int function_set_create(const struct profile *profile, const char *pattern,
			struct function_set *set, struct stackmap_error *error);
/* The functions of a file, or files: by path or base name. */
int function_set_create_of_object(const struct profile *profile, const char *pattern,
				  struct function_set *set, struct stackmap_error *error);
void function_set_free(struct function_set *set);

/* Adds the functions of `other` and empties it. Both sets are of one profile and not older than
 * its labels. */
void function_set_merge(struct function_set *set, struct function_set *other);

static inline bool function_set_has(const struct function_set *set, u32 label)
{
	return label < set->labels && set->has[label];
}

/*
 * Selects rows of a profile by the innermost frame of their stacks (or the marker in its place), as
 * perf report does with --dsos and --symbols.
 */

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
