/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A name that is meant literally may look like a glob: "operator*", "at(int[])". So equal text
 * always matches. */
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

int function_set_create(const struct profile *profile, const char *pattern,
			struct function_set *set, struct stackmap_error *error)
{
	struct function_set made = {.labels = frame_names_label_count(profile->names)};
	struct name_match match;
	bool found = false;

	made.has = calloc(made.labels + 1UL, sizeof(*made.has));
	if (!made.has)
		return error_set(error, ENOMEM, "report: not enough memory");
	name_match_init(&match, pattern);
	for (u32 i = 0; i < made.labels; i++) {
		const char *name = frame_names_label(profile->names, i);

		made.has[i] = name_match_try(&match, name) || strcmp(name, pattern) == 0;
		found |= made.has[i];
	}
	if (found) {
		*set = made;
		return 0;
	}
	function_set_free(&made);
	return not_found(&match, error);
}

void function_set_free(struct function_set *set)
{
	free(set->has);
	*set = (struct function_set){};
}
