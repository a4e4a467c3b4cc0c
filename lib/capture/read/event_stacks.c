/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stack ids are looked up in the stack map's own memory; inline stacks lie in the ring. */
#include "capture/read/event_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/read/naming.h"
#include "stack_map.h"
#include "stack_pack.h"

#define FLAGS_WRITTEN (STACK_TRUNCATED | STACK_USER | 0xf << STACK_STOP_SHIFT)

int event_stack_mapping(struct recording *recording, u64 frame)
{
	return frame && !FRAME_IS_KERNEL(frame)
		       ? naming_write_mapping(recording, FRAME_MAPPING(frame))
		       : 0;
}

/* A chain of frame pointers does not tell its root from a frame that keeps none. */
static u8 stop_of(const struct loaded *loaded, u32 flags)
{
	if (flags & STACK_TRUNCATED)
		return STOP_DEPTH;
	if (STACK_STOP(flags))
		return STACK_STOP(flags);
	return loaded->plan.config.user_unwind == USER_UNWIND_AUTO ? STOP_ROOT : STOP_NONE;
}

static int write_stack(struct recording *recording, const struct trace_stack *stack,
		       struct stack_name *name)
{
	u32 i;

	for (i = 0; i < stack->depth; i++) {
		int result = event_stack_mapping(recording, stack->frames[i]);

		if (result)
			return result;
	}
	name->stop = stop_of(recording->loaded, stack->flags);
	return trace_writer_stack(recording->writer, stack, &name->index);
}

/* The frames of a stack in the map. -ENOENT, -ESTALE. */
static int frames_of_id(const struct loaded *loaded, u32 id, u64 *frames, struct trace_stack *stack)
{
	const struct generation_table *table = generation_of_id(loaded, id);
	struct table_view *element;
	u32 flags, i;
	int result = table ? stack_map_find(table->memory, &loaded->plan.geometry, id, &element)
			   : -ESTALE;

	if (result)
		return result;
	flags = IDENTITY_FLAGS(element->identity);
	*stack = (struct trace_stack){
		.id = id,
		.flags = flags & FLAGS_WRITTEN,
		.generation = generation_of(table),
		.depth = IDENTITY_DEPTH(element->identity),
		.frames = frames,
	};
	for (i = 0; i < stack->depth; i++)
		frames[i] = stack_frame(element->word, flags, i);
	return 0;
}

static int name_id(struct recording *recording, u32 id, struct stack_name *name)
{
	struct generation_table *table = generation_of_id(recording->loaded, id);
	struct written_stack *written;
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (!table)
		return -ESTALE;
	written = written_stacks_at(&recording->stacks, recording->loaded, table, id);
	if (!written)
		return -ENOMEM;
	if (!written->index) {
		result = frames_of_id(recording->loaded, id, frames, &stack);
		result = result ?: write_stack(recording, &stack, name);
		if (result)
			return result;
		*written = (struct written_stack){.index = name->index + 1, .stop = name->stop};
	}
	name->index = written->index - 1;
	name->stop = written->stop;
	return 0;
}

static int name_run(struct recording *recording, const struct ring_view *ring, u64 position,
		    u32 run, struct stack_name *name)
{
	u64 frames[STACK_WORDS_MAX];
	u32 flags = 0;
	struct trace_stack stack = {.frames = frames};

	stack.depth = ring_read_run(ring, position, run, frames, &flags);
	if (!stack.depth)
		return -ENOENT;
	stack.flags = flags & FLAGS_WRITTEN;
	return write_stack(recording, &stack, name);
}

/* What is gone is said in the name. */
static int named(int result, u8 reason, struct stack_name *name)
{
	if (!result)
		return 0;
	*name = (struct stack_name){.index = TRACE_NO_STACK, .reason = reason};
	return result == -ENOENT || result == -ESTALE ? 0 : result;
}

int event_stack(struct recording *recording, const struct ring_view *ring, u64 position, u32 state,
		u32 field, struct stack_name *name)
{
	if (state == STATE_ID)
		return named(name_id(recording, field, name), REASON_GONE, name);
	if (state == STATE_INLINE)
		return named(name_run(recording, ring, position, field, name), REASON_GONE, name);
	return named(-ENOENT, state == STATE_NONE && field < REASON_COUNT ? field : REASON_GONE,
		     name);
}

static int keep_frames(const u64 *frames, u32 depth, u32 flags, struct user_answer *answer)
{
	answer->frames = malloc(depth * sizeof(*frames));
	if (!answer->frames)
		return -ENOMEM;
	memcpy(answer->frames, frames, depth * sizeof(*frames));
	answer->depth = depth;
	answer->flags = flags & FLAGS_WRITTEN;
	return 0;
}

static int keep_run(const struct ring_view *ring, u64 position, u32 run, struct user_answer *answer)
{
	u64 frames[STACK_WORDS_MAX];
	u32 flags = 0, depth = ring_read_run(ring, position, run, frames, &flags);

	if (depth)
		return keep_frames(frames, depth, flags, answer);
	answer->reason = REASON_GONE;
	return 0;
}

int event_stack_keep(const struct loaded *loaded, u64 generation, struct user_answer *answer)
{
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (!answer->id)
		return 0;
	result = frames_of_id(loaded, answer->id, frames, &stack);
	if (!result && stack.generation > generation)
		return 0;
	answer->id = 0;
	return result ? 0 : keep_frames(frames, stack.depth, stack.flags, answer);
}

int event_stack_delivered(struct loaded *loaded, const struct ring_view *ring, u64 position,
			  struct user_answer *answer)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 state = EVENT_USER_STATE(STAMP_FLAGS(slot->stamp)), field = slot->user;

	*answer = (struct user_answer){
		.leaf = loaded->plan.config.leaf ? slot->extra[0] : 0,
		.reason = REASON_GONE,
	};
	if (state == STATE_INLINE)
		return keep_run(ring, position, field, answer);
	if (state == STATE_ID)
		answer->id = field;
	if (state == STATE_NONE && field < REASON_COUNT)
		answer->reason = field;
	return 0;
}

/* The answer's own stack, into `frames`. -ENOENT, -ESTALE: it has none, or it is gone. */
static int frames_of_answer(const struct loaded *loaded, const struct user_answer *answer,
			    u64 *frames, struct trace_stack *stack)
{
	if (answer->id)
		return frames_of_id(loaded, answer->id, frames, stack);
	if (!answer->depth)
		return -ENOENT;
	*stack = (struct trace_stack){
		.depth = answer->depth, .flags = answer->flags, .frames = frames};
	memcpy(frames, answer->frames, answer->depth * sizeof(*frames));
	return 0;
}

/* A snapshot adds nothing to a map that goes on without it. */
static u32 id_of_whole(struct recording *recording, const struct trace_stack *stack)
{
	return generation_stack_id(recording->loaded, stack->frames, stack->depth, stack->flags,
				   !loaded_is_frozen(recording->loaded));
}

/* The same stack of another event must have the same id. */
static int name_with_leaf(struct recording *recording, const struct user_answer *answer,
			  struct stack_name *name)
{
	u64 frames[1 + STACK_WORDS_MAX] = {answer->leaf};
	struct trace_stack stack = {};
	int result = frames_of_answer(recording->loaded, answer, frames + 1, &stack);

	if (result)
		return result;
	stack.frames = frames;
	stack.depth = stack.depth < STACK_WORDS_MAX ? stack.depth + 1 : STACK_WORDS_MAX;
	stack.generation = 0;
	stack.id = id_of_whole(recording, &stack);
	if (stack.id)
		return name_id(recording, stack.id, name);
	return write_stack(recording, &stack, name);
}

static int name_as_it_came(struct recording *recording, const struct user_answer *answer,
			   struct stack_name *name)
{
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (answer->id)
		return name_id(recording, answer->id, name);
	result = frames_of_answer(recording->loaded, answer, frames, &stack);
	return result ?: write_stack(recording, &stack, name);
}

int event_stack_answered(struct recording *recording, struct user_answer *answer,
			 enum answer_form form, struct stack_name *name)
{
	int result = event_stack_mapping(recording, answer->leaf);

	if (!answer->named[form]) {
		bool join = answer->leaf && form == ANSWER_FULL;

		result =
			result
				?: (join ? name_with_leaf(recording, answer, &answer->name[form])
					 : name_as_it_came(recording, answer, &answer->name[form]));
		result = named(result, answer->id ? REASON_GONE : answer->reason,
			       &answer->name[form]);
		answer->named[form] = true;
	}
	*name = answer->name[form];
	return result;
}
