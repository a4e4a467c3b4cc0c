/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Markers are interned as labels without an object. */
#include "whole_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

#define MARKERS_MAX 2 /* one for each side */

static int add_marker(struct whole_stack *stack, const struct profile *profile, const char *marker)
{
	u32 label = frame_names_intern(profile->names, marker);

	if (label == UINT32_MAX)
		return -ENOMEM;
	stack->labels[stack->depth++] = label;
	return 0;
}

static int add_side(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);

	memcpy(stack->labels + stack->depth, path->labels, path->depth * sizeof(u32));
	stack->depth += path->depth;
	return marker ? add_marker(stack, profile, marker) : 0;
}

int whole_stack_set(struct whole_stack *stack, const struct profile *profile,
		    const struct profile_row *row)
{
	u32 depth = row->kernel->depth + row->user->depth + MARKERS_MAX;
	int err = array_make_rooms(stack->labels, depth, stack->room);

	stack->depth = 0;
	err = err ?: add_side(stack, profile, row->kernel);
	err = err ?: add_side(stack, profile, row->user);
	if (!err && !stack->depth)
		err = add_marker(stack, profile, row->user->end->marker);
	return err;
}

void whole_stack_free(struct whole_stack *stack)
{
	free(stack->labels);
	*stack = (struct whole_stack){};
}
