/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of a stack depend on the event in one way only: the innermost frame of the stack is a
 * return address if the event has a leaf, and else a pc. Each stack therefore has two lists of
 * frames ("parts"), which are made when an event first needs them. The stack of an event joins a
 * part of its kernel stack, a part of its user stack, the leaf, and the markers of missing stacks.
 */
#include "event_stack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"

/* The number that a frame_name, or a marker's label, has in the output. */
struct numbered {
	struct intern_key key; /* address of the frame_name or of the marker's label */
	u32 from_one;
};

struct part {
	struct event_frame *frames;
	u32 depth, room;
};

struct event_stacks {
	const struct trace_stack *stacks;
	struct frame_names *names;
	struct part *parts; /* the frames of each stack; index: 2 * stack index + (1 if the stack
			       follows a leaf); frames NULL: not made yet */
	u32 stack_count;
	struct intern numbers;
	struct part joined; /* the joined stack of the last event */
};

static int set_identity_number_of_frame(struct event_stacks *stacks, struct event_frame *frame)
{
	const void *identity = frame->name ? (const void *)frame->name : frame->label;
	const struct intern_key key = {{intern_word_of_address(identity)}};
	struct numbered *numbered = intern_find_or_add_entry(&stacks->numbers, &key);

	if (!numbered)
		return -ENOMEM;
	if (!numbered->from_one)
		numbered->from_one = stacks->numbers.count;
	frame->number = numbered->from_one - 1;
	return 0;
}

static int make_room_for_frames(struct part *part, u32 more)
{
	return array_make_rooms(part->frames, part->depth + more, part->room);
}

static int append_frame(struct event_stacks *stacks, u64 address, bool return_address,
			struct part *part)
{
	struct event_frame frame = {.in_kernel = FRAME_IS_KERNEL(address)};

	frame.name = frame_names_find(stacks->names, address, return_address);
	if (!frame.name || set_identity_number_of_frame(stacks, &frame) ||
	    make_room_for_frames(part, frame.name->function_count))
		return -ENOMEM;
	for (u32 i = 0; i < frame.name->function_count; i++) {
		frame.label_id = frame.name->functions[i].label;
		frame.label = frame_names_label(stacks->names, frame.label_id);
		frame.inlined = frame.name->functions[i].inlined;
		part->frames[part->depth++] = frame;
	}
	return 0;
}

static int append_frame_of_missing_stack(struct event_stacks *stacks, const struct stack_end *end,
					 bool in_kernel, struct part *part)
{
	struct event_frame frame = {.in_kernel = in_kernel};

	frame.label_id = frame_names_intern_text(stacks->names, end->marker);
	if (frame.label_id == UINT32_MAX)
		return -ENOMEM;
	frame.label = frame_names_label(stacks->names, frame.label_id);
	if (set_identity_number_of_frame(stacks, &frame) || make_room_for_frames(part, 1))
		return -ENOMEM;
	part->frames[part->depth++] = frame;
	return 0;
}

/* The frames of a stack, which are collected at the first call. NULL without memory. */
static const struct part *find_or_make_frames_of_stack(struct event_stacks *stacks, u32 index,
						       bool below_leaf)
{
	const struct trace_stack *stack = &stacks->stacks[index];
	const struct stack_end *end = stack_end_of(stack, 0);
	struct part *part = &stacks->parts[2UL * index + below_leaf];
	int err = 0;

	if (part->frames)
		return part;
	for (u32 i = 0; i < stack->depth && !err; i++)
		err = append_frame(stacks, stack->frames[i], i || below_leaf, part);
	if (!err && stack_end_is_cut(end))
		err = append_frame_of_missing_stack(stacks, end, !(stack->flags & STACK_USER),
						    part);
	if (!err)
		return part;
	free(part->frames);
	*part = (struct part){};
	return NULL;
}

/* Appends the kernel stack or the user stack of an event. `leaf` 0: the leaf is not on this
 * side. */
static int append_stack_part(struct event_stacks *stacks, u64 leaf, u32 index, u32 reason,
			     bool in_kernel)
{
	struct part *joined = &stacks->joined;
	const struct part *part;

	if (leaf && append_frame(stacks, leaf, false, joined))
		return -ENOMEM;
	if (index == TRACE_NO_STACK) {
		const struct stack_end *end = stack_end_of_reason(reason);

		return stack_end_is_cut(end)
			       ? append_frame_of_missing_stack(stacks, end, in_kernel, joined)
			       : 0;
	}
	part = find_or_make_frames_of_stack(stacks, index, leaf);
	if (!part || make_room_for_frames(joined, part->depth))
		return -ENOMEM;
	memcpy(&joined->frames[joined->depth], part->frames, part->depth * sizeof(*part->frames));
	joined->depth += part->depth;
	return 0;
}

int event_stacks_find(struct event_stacks *stacks, const struct trace_event *event,
		      struct event_stack *out)
{
	bool leaf_in_kernel = FRAME_IS_KERNEL(event->leaf);

	stacks->joined.depth = 0;
	if (append_stack_part(stacks, leaf_in_kernel ? event->leaf : 0, event->kernel,
			      event->kernel_reason, true) ||
	    append_stack_part(stacks, leaf_in_kernel ? 0 : event->leaf, event->user,
			      event->user_reason, false))
		return -ENOMEM;
	*out = (struct event_stack){stacks->joined.frames, stacks->joined.depth};
	return 0;
}

int event_stacks_marker_of_missing_stack(struct event_stacks *stacks,
					 const struct trace_event *event, struct event_stack *out)
{
	stacks->joined.depth = 0;
	if (append_frame_of_missing_stack(stacks, stack_end_of_reason(event->user_reason), false,
					  &stacks->joined))
		return -ENOMEM;
	*out = (struct event_stack){stacks->joined.frames, stacks->joined.depth};
	return 0;
}

int event_stacks_create(struct trace_reader *reader, const struct frame_naming *naming,
			struct event_stacks **out)
{
	struct event_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	stacks->stack_count = trace_reader_stacks(reader, &stacks->stacks);
	stacks->parts = calloc(2UL * stacks->stack_count + 1, sizeof(struct part));
	stacks->numbers = INTERN(struct numbered);
	if (!stacks->parts || frame_names_create(reader, naming, &stacks->names)) {
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
		free(old->parts[i].frames);
	free(old->parts);
	intern_clear(&old->numbers);
	frame_names_free(&old->names);
	free(old->joined.frames);
	free(old);
	*stacks = NULL;
}

static void set_build_id(struct profile_range *range, const u8 *build_id, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		sprintf(&range->build_id[2UL * i], "%02x", build_id[i]);
}

void profile_range_of_mapping(const struct trace_reader *reader,
			      const struct trace_mapping *mapping, struct profile_range *range)
{
	const struct trace_mapping *mappings;
	const struct trace_module *modules;
	u64 start;

	*range = (struct profile_range){};
	if (!mapping)
		return;
	trace_reader_mappings(reader, &mappings);
	start = mapping->kind == MAPPING_ANON ? mapping->base : FRAME_USER(mapping->number, 0);
	range->number = trace_reader_modules(reader, &modules) + (u32)(mapping - mappings) + 1;
	range->start = start;
	range->end = start + FRAME_OFFSET_MASK + 1;
	range->path = mapping->path;
	set_build_id(range, mapping->build_id, mapping->build_id_bytes);
}

static void set_kernel_module_range(const struct trace_reader *reader,
				    const struct frame_name *name, struct profile_range *range)
{
	const struct trace_module *module = trace_reader_module_of(reader, name->frame);
	const struct trace_module *modules;

	if (!module)
		return;
	trace_reader_modules(reader, &modules);
	range->number = (u32)(module - modules) + 1;
	range->start = module->start;
	range->end = module->end;
	range->path = name->object;
	set_build_id(range, module->build_id, module->build_id_bytes);
}

/* A hidden kernel address is in no range. */
void profile_place_of_frame(const struct trace_reader *reader, const struct frame_name *name,
			    struct profile_place *place)
{
	const struct trace_mapping *mapping;

	*place = (struct profile_place){};
	place->address = name->address ? name->address - name->return_address : 0;
	if (FRAME_IS_KERNEL(name->frame)) {
		if (name->address)
			set_kernel_module_range(reader, name, &place->range);
		return;
	}
	mapping = trace_reader_mapping(reader, FRAME_MAPPING(name->frame));
	if (mapping && mapping->kind != MAPPING_ANON)
		place->address = (name->frame & ~FRAME_GUESSED) - name->return_address;
	profile_range_of_mapping(reader, mapping, &place->range);
}

u32 profile_count_functions_of_frame(const struct event_frame *frame)
{
	return frame->name ? frame->name->function_count : 1;
}

struct profile_line profile_line_of_frame(const struct event_frame *frame, u32 number)
{
	const struct frame_function *function;
	struct profile_line line = {.function = frame->label, .file = ""};

	if (!frame->name)
		return line;
	function = &frame->name->functions[number];
	if (function->inlined || frame_name_is_of_inlined_function(frame->name))
		line.function = function->name ?: "[unknown]";
	line.file = function->file ?: "";
	line.line = function->line;
	return line;
}

/* Nodes are found by (parent, label, kernel or user) in a hash table. */

struct frame_tree {
	struct intern nodes; /* entries: struct frame_node; index: number - 1 */
};

int frame_tree_add(struct frame_tree *tree, const struct event_stack *stack, u32 *number)
{
	u32 parent = 0;

	for (u32 i = stack->depth; i-- > 0;) {
		const struct event_frame *frame = &stack->frames[i];
		const struct intern_key key = {{parent, frame->label_id, frame->in_kernel}};
		struct frame_node *node = intern_find_or_add_entry(&tree->nodes, &key);

		if (!node)
			return -ENOMEM;
		if (!node->number) {
			node->parent = parent;
			node->number = tree->nodes.count;
			node->frame = *frame;
		}
		parent = node->number;
	}
	*number = parent;
	return 0;
}

int frame_tree_each(const struct frame_tree *tree,
		    int (*each)(void *arg, const struct frame_node *node), void *arg)
{
	int err = 0;

	for (u32 i = 0; i < tree->nodes.count && !err; i++)
		err = each(arg, tree->nodes.entries[i]);
	return err;
}

int frame_tree_create(struct frame_tree **out)
{
	struct frame_tree *tree = malloc(sizeof(*tree));

	if (!tree)
		return -ENOMEM;
	tree->nodes = INTERN(struct frame_node);
	*out = tree;
	return 0;
}

void frame_tree_free(struct frame_tree **tree)
{
	if (!*tree)
		return;
	intern_clear(&(*tree)->nodes);
	free(*tree);
	*tree = NULL;
}
