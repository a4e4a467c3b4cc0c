/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A literal name may look like a glob ("operator*", "at(int[])"), so equal text always
 * matches. An inlined function matches the name of the function, and a pattern with the
 * mark of inlined functions matches only those.
 */
#include "function_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "name_match.h"
#include "profile.h"

#define UNKNOWN "[unknown]" /* the object of labels without an object, as in tables */

/* Tests if a label is in the set: 1, 0 or -errno. */
typedef int (*label_test)(struct name_match *match, const struct profile *profile, u32 label);

static bool name_matches(struct name_match *match, const char *name)
{
	return name_match_compare_name(match, name) || strcmp(name, match->pattern) == 0;
}

static int matches_name_of_label(struct name_match *match, const struct profile *profile, u32 label)
{
	const char *text = frame_names_label(profile->names, label);
	size_t length = strlen(text), mark = strlen(FRAME_INLINED_MARK);
	bool inlined = length > mark && strcmp(text + length - mark, FRAME_INLINED_MARK) == 0;
	/* The name of the function in its source is the label without the mark of inlined
	 * functions. */
	char *function = strndup(text, inlined ? length - mark : length);
	bool found = function && (name_matches(match, function) || name_matches(match, text));

	free(function);
	return function ? found : -ENOMEM;
}

static int matches_object_of_label(struct name_match *match, const struct profile *profile,
				   u32 label)
{
	const char *object = frame_names_label_object(profile->names, label) ?: UNKNOWN;
	const char *slash = strrchr(object, '/');

	return name_matches(match, slash ? slash + 1 : object) || name_matches(match, object);
}

static int create_set_by_test(const struct profile *profile, struct name_match *match,
			      label_test test, struct function_set *set)
{
	struct function_set made = {.labels = frame_names_label_count(profile->names)};
	int err = 0, found;

	made.has = calloc(made.labels + 1UL, sizeof(*made.has));
	if (!made.has)
		err = -ENOMEM;
	for (u32 i = 0; i < made.labels && !err; i++) {
		found = test(match, profile, i);
		err = found < 0 ? found : 0;
		made.has[i] = found > 0;
	}
	if (!err && !memchr(made.has, true, made.labels * sizeof(*made.has)))
		err = -ENOENT;
	if (err)
		function_set_free(&made);
	else
		*set = made;
	return err;
}

static int set_no_match_error(int err, const struct name_match *match, const char *what,
			      struct stackmap_error *error)
{
	if (err == -ENOENT)
		return error_set(error, ENOENT, "%s: no such %s in these events%s%s%s",
				 match->pattern, what, match->nearest[0] ? "; did you mean " : "",
				 match->nearest, match->nearest[0] ? "?" : "");
	return err ? error_set(error, -err, "report: not enough memory") : 0;
}

int function_set_create(const struct profile *profile, const char *pattern,
			struct function_set *set, struct stackmap_error *error)
{
	struct name_match match;

	name_match_init(&match, pattern);
	return set_no_match_error(create_set_by_test(profile, &match, matches_name_of_label, set),
				  &match, "function", error);
}

int function_set_create_of_object(const struct profile *profile, const char *pattern,
				  struct function_set *set, struct stackmap_error *error)
{
	struct name_match match;

	name_match_init(&match, pattern);
	return set_no_match_error(create_set_by_test(profile, &match, matches_object_of_label, set),
				  &match, "file of code", error);
}

void function_set_merge(struct function_set *set, struct function_set *other)
{
	if (!set->has) {
		*set = *other;
		*other = (struct function_set){};
		return;
	}
	for (u32 i = 0; i < set->labels; i++)
		set->has[i] |= function_set_has(other, i);
	function_set_free(other);
}

void function_set_free(struct function_set *set)
{
	free(set->has);
	*set = (struct function_set){};
}

/* Rows share their labels, so a pattern is matched once for each label. */

typedef int (*create_set)(const struct profile *profile, const char *pattern,
			  struct function_set *set, struct stackmap_error *error);

static int set_memory_error(struct stackmap_error *error)
{
	return error_set(error, ENOMEM, "report: not enough memory");
}

/* The innermost label of each row; a marker is interned as a label. NULL without memory. */
static u32 *find_leaf_labels(const struct profile *profile)
{
	u32 *leaves = calloc(profile->row_count + 1UL, sizeof(*leaves));
	struct whole_stack stack = {};
	int err = 0;

	for (u32 i = 0; leaves && i < profile->row_count && !err; i++) {
		err = whole_stack_set_labels_of_row(&stack, profile, profile->rows[i]);
		leaves[i] = err ? 0 : stack.labels[0];
	}
	whole_stack_free(&stack);
	if (!err)
		return leaves;
	free(leaves);
	return NULL;
}

/* The length of the first item of a list. */
static size_t first_item_length(const char *list)
{
	size_t length;
	int depth = 0;

	for (length = 0; list[length] && (list[length] != ',' || depth > 0); length++) {
		depth += list[length] && strchr("<([{", list[length]);
		depth -= depth > 0 && strchr(">)]}", list[length]);
	}
	return length;
}

static int add_listed_functions(struct function_set *set, create_set create,
				const struct profile *profile, const struct string_list *lists,
				struct stackmap_error *error)
{
	int err = 0;

	for (size_t i = 0; i < lists->count && !err; i++) {
		const char *list = lists->items[i];

		do {
			size_t length = first_item_length(list);
			char *pattern = strndup(list, length);
			struct function_set found = {};

			err = pattern ? create(profile, pattern, &found, error)
				      : set_memory_error(error);
			if (!err)
				function_set_merge(set, &found);
			free(pattern);
			list += length;
		} while (!err && *list++ == ',');
	}
	return err;
}

/* An empty set passes all labels. */
static bool is_set_empty_or_has_label(const struct function_set *set, u32 label)
{
	return !set->has || function_set_has(set, label);
}

int leaf_filter_apply(const struct leaf_filter *filter, struct profile *profile,
		      struct stackmap_error *error)
{
	struct function_set of_objects = {}, named = {};
	u32 *leaves;
	int err;

	if (!filter->objects.count && !filter->functions.count)
		return 0;
	leaves = find_leaf_labels(profile);
	if (!leaves)
		return set_memory_error(error);
	err = add_listed_functions(&of_objects, function_set_create_of_object, profile,
				   &filter->objects, error);
	err = err
		      ?: add_listed_functions(&named, function_set_create, profile,
					      &filter->functions, error);
	if (!err) {
		u32 kept = 0;

		profile->count = 0;
		profile->first = profile->last = 0; /* rows have no times */
		for (u32 i = 0; i < profile->row_count; i++) {
			if (!is_set_empty_or_has_label(&of_objects, leaves[i]) ||
			    !is_set_empty_or_has_label(&named, leaves[i]))
				continue;
			profile->count += profile->rows[i]->count;
			profile->rows[kept++] = profile->rows[i];
		}
		profile->row_count = kept;
	}
	function_set_free(&of_objects);
	function_set_free(&named);
	free(leaves);
	return err;
}
