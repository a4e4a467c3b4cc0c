/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows share their labels, so a pattern is matched once for each label. */
#include "leaf_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "function_set.h"
#include "whole_stack.h"

typedef int (*create_set)(const struct profile *profile, const char *pattern,
			  struct function_set *set, struct stackmap_error *error);

static int out_of_memory(struct stackmap_error *error)
{
	return error_set(error, ENOMEM, "report: not enough memory");
}

/* The innermost label of each row; a marker is interned as a label. NULL without memory. */
static u32 *find_leaves(const struct profile *profile)
{
	u32 *leaves = calloc(profile->row_count + 1UL, sizeof(*leaves));
	struct whole_stack stack = {};
	int err = 0;

	for (u32 i = 0; leaves && i < profile->row_count && !err; i++) {
		err = whole_stack_set(&stack, profile, profile->rows[i]);
		leaves[i] = err ? 0 : stack.labels[0];
	}
	whole_stack_free(&stack);
	if (!err)
		return leaves;
	free(leaves);
	return NULL;
}

/* The length of the first item of a list. */
static size_t item_length(const char *list)
{
	size_t length;
	int depth = 0;

	for (length = 0; list[length] && (list[length] != ',' || depth > 0); length++) {
		depth += list[length] && strchr("<([{", list[length]);
		depth -= depth > 0 && strchr(">)]}", list[length]);
	}
	return length;
}

static int add_list(struct function_set *set, create_set create, const struct profile *profile,
		    const char *list, struct stackmap_error *error)
{
	int err;

	do {
		size_t length = item_length(list);
		char *pattern = strndup(list, length);
		struct function_set found = {};

		err = pattern ? create(profile, pattern, &found, error) : out_of_memory(error);
		if (!err)
			function_set_merge(set, &found);
		free(pattern);
		list += length;
	} while (!err && *list++ == ',');
	return err;
}

static int add_lists(struct function_set *set, create_set create, const struct profile *profile,
		     const struct string_list *lists, struct stackmap_error *error)
{
	int err = 0;

	for (size_t i = 0; i < lists->count && !err; i++)
		err = add_list(set, create, profile, lists->items[i], error);
	return err;
}

/* An empty set passes all labels. */
static bool allows(const struct function_set *set, u32 label)
{
	return !set->has || function_set_has(set, label);
}

static void keep_rows(struct profile *profile, const u32 *leaves,
		      const struct function_set *of_objects, const struct function_set *named)
{
	u32 kept = 0;

	profile->count = 0;
	profile->first = profile->last = 0; /* rows have no times */
	for (u32 i = 0; i < profile->row_count; i++) {
		if (!allows(of_objects, leaves[i]) || !allows(named, leaves[i]))
			continue;
		profile->count += profile->rows[i]->count;
		profile->rows[kept++] = profile->rows[i];
	}
	profile->row_count = kept;
}

int leaf_filter_apply(const struct leaf_filter *filter, struct profile *profile,
		      struct stackmap_error *error)
{
	struct function_set of_objects = {}, named = {};
	u32 *leaves;
	int err;

	if (!filter->objects.count && !filter->functions.count)
		return 0;
	leaves = find_leaves(profile);
	if (!leaves)
		return out_of_memory(error);
	err = add_lists(&of_objects, function_set_create_of_object, profile, &filter->objects,
			error);
	err = err ?: add_lists(&named, function_set_create, profile, &filter->functions, error);
	if (!err)
		keep_rows(profile, leaves, &of_objects, &named);
	function_set_free(&of_objects);
	function_set_free(&named);
	free(leaves);
	return err;
}
