/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A name that is meant literally may look like a glob: "operator*", "at(int[])". So equal text
 * always matches. A function is the same one whether it was called or inlined, unless the pattern
 * itself has the mark.
 */
#include "function_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/name_match.h"
#include "error.h"

static int not_found(const struct name_match *match, struct stackmap_error *error)
{
	return error_set(error, ENOENT, "%s: no such function in these events%s%s%s",
			 match->pattern, match->nearest[0] ? "; did you mean " : "", match->nearest,
			 match->nearest[0] ? "?" : "");
}

/* The text of a label as the function is called in its source. Freed by the caller. */
static char *function_name(const char *label)
{
	size_t length = strlen(label), mark = strlen(FRAME_INLINED_MARK);
	bool inlined = length > mark && strcmp(label + length - mark, FRAME_INLINED_MARK) == 0;

	return strndup(label, inlined ? length - mark : length);
}

static bool is_named(struct name_match *match, const char *label, const char *function)
{
	return name_match_try(match, function) || strcmp(function, match->pattern) == 0 ||
	       name_match_try(match, label) || strcmp(label, match->pattern) == 0;
}

static int set_label(struct function_set *set, u32 label, const struct profile *profile,
		     struct name_match *match)
{
	const char *text = frame_names_label(profile->names, label);
	char *function = function_name(text);

	if (!function)
		return -ENOMEM;
	set->has[label] = is_named(match, text, function);
	free(function);
	return 0;
}

static bool is_empty(const struct function_set *set)
{
	return !memchr(set->has, true, set->labels * sizeof(*set->has));
}

int function_set_create(const struct profile *profile, const char *pattern,
			struct function_set *set, struct stackmap_error *error)
{
	struct function_set made = {.labels = frame_names_label_count(profile->names)};
	struct name_match match;
	int err = 0;

	made.has = calloc(made.labels + 1UL, sizeof(*made.has));
	if (!made.has)
		return error_set(error, ENOMEM, "report: not enough memory");
	name_match_init(&match, pattern);
	for (u32 i = 0; i < made.labels && !err; i++)
		err = set_label(&made, i, profile, &match);
	if (err)
		error_set(error, ENOMEM, "report: not enough memory");
	else if (is_empty(&made))
		err = not_found(&match, error);
	if (err)
		function_set_free(&made);
	else
		*set = made;
	return err;
}

void function_set_free(struct function_set *set)
{
	free(set->has);
	*set = (struct function_set){};
}
