/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stack's frames depend on the event only in one way: below a leaf the innermost is a return
 * address too. So there are two lists for each stack, made when they are first needed, and the list
 * of an event is put together of at most two of them and what is the event's own.
 */
#include "event_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/hashtab.h>

#define FRAMES 4096 /* to begin with */

struct part {
	u32 depth;
	struct event_frame frames[];
};

struct event_stacks {
	const struct trace_stack *stacks;
	struct frame_names *names;
	struct part **parts; /* by 2 * stack + below a leaf */
	u32 stack_count;
	htab_t numbers; /* of struct event_frame, by what they stand for */
	u32 number_count;
	struct event_frame *joined; /* of the last event */
	u32 room;
};

/* Frames are equal if they have one frame_name, cuts if they have one label. */
static const void *identity(const struct event_frame *frame)
{
	return frame->name ? (const void *)frame->name : frame->label;
}

static hashval_t hash_frame(const void *frame)
{
	return htab_hash_pointer(identity(frame));
}

static int same_frame(const void *a, const void *b)
{
	return identity(a) == identity(b);
}

static int set_number(struct event_stacks *stacks, struct event_frame *frame)
{
	void **slot = htab_find_slot(stacks->numbers, frame, INSERT);
	struct event_frame *first;

	if (!slot)
		return -ENOMEM;
	first = *slot;
	if (!first) {
		first = malloc(sizeof(*first));
		if (!first)
			return -ENOMEM;
		*first = *frame;
		first->number = stacks->number_count++;
		*slot = first;
	}
	frame->number = first->number;
	return 0;
}

static int make_frame(struct event_stacks *stacks, u64 address, bool return_address,
		      struct event_frame *frame)
{
	const struct frame_name *name = frame_names_find(stacks->names, address, return_address);

	if (!name)
		return -ENOMEM;
	*frame = (struct event_frame){
		.name = name,
		.label = frame_names_label(stacks->names, name->label),
		.label_id = name->label,
		.in_kernel = FRAME_IS_KERNEL(address),
	};
	return set_number(stacks, frame);
}

static int make_cut(struct event_stacks *stacks, const struct stack_end *end, bool in_kernel,
		    struct event_frame *frame)
{
	u32 label = frame_names_intern(stacks->names, end->marker);

	if (label == UINT32_MAX)
		return -ENOMEM;
	*frame = (struct event_frame){
		.label = frame_names_label(stacks->names, label),
		.label_id = label,
		.in_kernel = in_kernel,
	};
	return set_number(stacks, frame);
}

static int fill_part(struct event_stacks *stacks, const struct trace_stack *stack, bool below_leaf,
		     struct part *part)
{
	const struct stack_end *end = stack_end_of(stack, 0);
	bool in_kernel = !(stack->flags & STACK_USER);
	int err = 0;

	for (; part->depth < stack->depth && !err; part->depth++)
		err = make_frame(stacks, stack->frames[part->depth], part->depth || below_leaf,
				 &part->frames[part->depth]);
	if (!err && stack_end_is_cut(end))
		err = make_cut(stacks, end, in_kernel, &part->frames[part->depth++]);
	return err;
}

static const struct part *find_part(struct event_stacks *stacks, u32 index, bool below_leaf)
{
	const struct trace_stack *stack = &stacks->stacks[index];
	struct part **part = &stacks->parts[2UL * index + below_leaf];

	if (*part)
		return *part;
	*part = calloc(1, sizeof(**part) + (stack->depth + 1UL) * sizeof(struct event_frame));
	if (*part && fill_part(stacks, stack, below_leaf, *part)) {
		free(*part);
		*part = NULL;
	}
	return *part;
}

static int make_room(struct event_stacks *stacks, u64 depth)
{
	struct event_frame *joined;

	if (depth <= stacks->room)
		return 0;
	joined = reallocarray(stacks->joined, 2 * depth, sizeof(*joined));
	if (!joined)
		return -ENOMEM;
	stacks->joined = joined;
	stacks->room = (u32)(2 * depth);
	return 0;
}

static int join_stack(struct event_stacks *stacks, u32 index, bool below_leaf, u32 *depth)
{
	const struct part *part = find_part(stacks, index, below_leaf);

	if (!part || make_room(stacks, (u64)*depth + part->depth))
		return -ENOMEM;
	memcpy(&stacks->joined[*depth], part->frames, part->depth * sizeof(*part->frames));
	*depth += part->depth;
	return 0;
}

static int join_nothing(struct event_stacks *stacks, u32 reason, bool in_kernel, u32 *depth)
{
	const struct stack_end *end = stack_end_of_reason(reason);

	if (!stack_end_is_cut(end))
		return 0;
	if (make_room(stacks, *depth + 1UL))
		return -ENOMEM;
	return make_cut(stacks, end, in_kernel, &stacks->joined[(*depth)++]);
}

/* `leaf` 0: there is none on this side. */
static int join_side(struct event_stacks *stacks, u64 leaf, u32 index, u32 reason, bool in_kernel,
		     u32 *depth)
{
	if (leaf && (make_room(stacks, *depth + 1UL) ||
		     make_frame(stacks, leaf, false, &stacks->joined[(*depth)++])))
		return -ENOMEM;
	if (index == TRACE_NO_STACK)
		return join_nothing(stacks, reason, in_kernel, depth);
	return join_stack(stacks, index, leaf, depth);
}

int event_stacks_find(struct event_stacks *stacks, const struct trace_event *event,
		      struct event_stack *out)
{
	bool leaf_in_kernel = FRAME_IS_KERNEL(event->leaf);
	u32 depth = 0;

	if (join_side(stacks, leaf_in_kernel ? event->leaf : 0, event->kernel, event->kernel_reason,
		      true, &depth) ||
	    join_side(stacks, leaf_in_kernel ? 0 : event->leaf, event->user, event->user_reason,
		      false, &depth))
		return -ENOMEM;
	*out = (struct event_stack){.frames = stacks->joined, .depth = depth};
	return 0;
}

int event_stacks_missing(struct event_stacks *stacks, const struct trace_event *event,
			 struct event_stack *out)
{
	if (make_room(stacks, 1) ||
	    make_cut(stacks, stack_end_of_reason(event->user_reason), false, &stacks->joined[0]))
		return -ENOMEM;
	*out = (struct event_stack){.frames = stacks->joined, .depth = 1};
	return 0;
}

int event_stacks_create(struct trace_reader *reader, const struct frame_naming *naming,
			struct event_stacks **out)
{
	struct event_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->stack_count = trace_reader_stacks(reader, &stacks->stacks);
	stacks->parts = calloc(2UL * stacks->stack_count + 1, sizeof(struct part *));
	stacks->numbers = htab_try_create(FRAMES, hash_frame, same_frame, free);
	if (!stacks->parts || !stacks->numbers ||
	    frame_names_create(reader, naming, &stacks->names)) {
		event_stacks_free(&stacks);
		return -ENOMEM;
	}
	*out = stacks;
	return 0;
}

void event_stacks_free(struct event_stacks **stacks)
{
	struct event_stacks *old = *stacks;

	if (!old)
		return;
	for (u64 i = 0; old->parts && i < 2UL * old->stack_count; i++)
		free(old->parts[i]);
	free(old->parts);
	if (old->numbers)
		htab_delete(old->numbers);
	frame_names_free(&old->names);
	free(old->joined);
	free(old);
	*stacks = NULL;
}
