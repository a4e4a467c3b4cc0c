/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stack with an id is read from the memory of the stack map, which is shared with the kernel. An
 * inline stack follows its event in the ring. */
#include "capture/drain/event_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/symbols.h"
#include "capture/load/text_ranges.h"
#include "stack_map.h"
#include "stack_pack.h"

#define FLAGS_WRITTEN (STACK_TRUNCATED | STACK_USER | 0xf << STACK_STOP_SHIFT)

int event_stack_write_mapping(struct recording *recording, u64 frame)
{
	return frame && !FRAME_IS_KERNEL(frame) && !FRAME_IS_OMITTED(frame)
		       ? symbols_write_mapping(recording, FRAME_MAPPING(frame))
		       : 0;
}

/* Returns why a stack ended. With frame pointers alone, the root of the stack cannot be told from a
 * frame that has no frame pointer. */
static u8 reason_of_stack_end(const struct loaded *loaded, u32 flags)
{
	if (flags & STACK_TRUNCATED)
		return STOP_DEPTH;
	if (STACK_STOP(flags))
		return STACK_STOP(flags);
	return loaded->plan.config.user_unwind == USER_UNWIND_AUTO ? STOP_ROOT : STOP_NONE;
}

u32 event_stack_mapping_without_rules(const struct trace_stack *stack, u8 stop)
{
	u64 frame = 0;

	if (stop != STOP_GUESSED && !STOP_IS_DEFERRAL(stop))
		return 0;
	for (u32 i = 0; i < stack->depth && !FRAME_IS_GUESSED(stack->frames[i]); i++)
		frame = stack->frames[i];
	if (!frame)
		return VAIN_LEAF;
	return FRAME_IS_KERNEL(frame) || FRAME_MAPPING(frame) >= MAPPINGS_MAX
		       ? 0
		       : FRAME_MAPPING(frame);
}

static int write_stack(struct recording *recording, const struct trace_stack *stack,
		       struct stack_ref *ref)
{
	for (u32 i = 0; i < stack->depth; i++) {
		int result = event_stack_write_mapping(recording, stack->frames[i]);

		if (result)
			return result;
	}
	ref->stop = reason_of_stack_end(recording->loaded, stack->flags);
	ref->vain = event_stack_mapping_without_rules(stack, ref->stop);
	return trace_writer_stack(recording->writer, stack, &ref->index);
}

/* Copies the frames of a stack out of the stack map. -ESTALE: the id is of a generation that no
 * table has any more; -ENOENT: the table has no stack with this id. */
static int copy_frames_of_stack_id(const struct loaded *loaded, u32 id, u64 *frames,
				   struct trace_stack *stack)
{
	const struct generation_table *table = generation_table_of_id(loaded, id);
	struct table_view *element;
	u32 flags;
	int result = table ? stack_map_find(table->memory, &loaded->plan.geometry, id, &element)
			   : -ESTALE;

	if (result)
		return result;
	flags = IDENTITY_FLAGS(element->identity);
	*stack = (struct trace_stack){
		.id = id,
		.flags = flags & FLAGS_WRITTEN,
		.generation = generation_of_table(table),
		.depth = IDENTITY_DEPTH(element->identity),
		.frames = frames,
	};
	for (u32 i = 0; i < stack->depth; i++)
		frames[i] = stack_frame(element->word, flags, i);
	text_ranges_mark_interrupted(loaded->kernel_text.memory, frames, stack->depth);
	return 0;
}

/* Returns the element that says which index a stack of the stack map has in the file; NULL: no
 * memory. If the array of elements is of another generation, it is emptied; generation numbers are
 * never used again. */
static struct written_stack *find_written_stack(struct recording *recording,
						const struct generation_table *table, u32 id)
{
	struct written_table *written = &recording->stacks[table - recording->loaded->tables];
	u32 bits = recording->loaded->plan.geometry.bits;
	u64 generation = generation_of_table(table), slots = TABLE_SLOTS(bits);

	if (!written->items)
		written->items = calloc(slots, sizeof(*written->items));
	else if (written->generation != generation)
		memset(written->items, 0, slots * sizeof(*written->items));
	written->generation = generation;
	return written->items ? &written->items[STACK_ID_INDEX(id, bits)] : NULL;
}

/* Writes a stack of the stack map, unless the file has the stack already. */
static int write_stack_of_stack_id(struct recording *recording, u32 id, struct stack_ref *ref)
{
	struct generation_table *table = generation_table_of_id(recording->loaded, id);
	struct written_stack *written;
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (!table)
		return -ESTALE;
	written = find_written_stack(recording, table, id);
	if (!written)
		return -ENOMEM;
	if (!written->index) {
		result = copy_frames_of_stack_id(recording->loaded, id, frames, &stack);
		result = result ?: write_stack(recording, &stack, ref);
		if (result)
			return result;
		*written = (struct written_stack){
			.index = ref->index + 1, .stop = ref->stop, .vain = ref->vain};
	}
	ref->index = written->index - 1;
	ref->stop = written->stop;
	ref->vain = written->vain;
	return 0;
}

static int write_inline_stack(struct recording *recording, const struct ring_view *ring,
			      u64 position, u32 run, struct stack_ref *ref)
{
	u64 frames[STACK_WORDS_MAX];
	u32 flags = 0;
	struct trace_stack stack = {.frames = frames};

	stack.depth = ring_read_run(ring, position, run, frames, &flags);
	if (!stack.depth)
		return -ENOENT;
	text_ranges_mark_interrupted(recording->loaded->kernel_text.memory, frames, stack.depth);
	stack.flags = flags & FLAGS_WRITTEN;
	return write_stack(recording, &stack, ref);
}

/* Takes the result of writing a stack. On failure sets *ref to the reason why the event has no
 * stack. 0 if the stack was written, or does not exist any more; otherwise the error. */
static int set_reason_if_stack_is_gone(int result, u8 reason, struct stack_ref *ref)
{
	if (!result)
		return 0;
	*ref = (struct stack_ref){.index = TRACE_NO_STACK, .reason = reason};
	return result == -ENOENT || result == -ESTALE ? 0 : result;
}

int event_stack_write_from_field(struct recording *recording, const struct ring_view *ring,
				 u64 position, u32 state, u32 field, struct stack_ref *ref)
{
	if (state == STATE_ID)
		return set_reason_if_stack_is_gone(write_stack_of_stack_id(recording, field, ref),
						   REASON_GONE, ref);
	if (state == STATE_INLINE)
		return set_reason_if_stack_is_gone(
			write_inline_stack(recording, ring, position, field, ref), REASON_GONE,
			ref);
	return set_reason_if_stack_is_gone(
		-ENOENT, state == STATE_NONE && field < REASON_COUNT ? field : REASON_GONE, ref);
}

int event_stack_copy_frames_from_stack_map(const struct loaded *loaded, u64 generation,
					   struct deferred_stack *deferred)
{
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (!deferred->id)
		return 0;
	result = copy_frames_of_stack_id(loaded, deferred->id, frames, &stack);
	if (!result && stack.generation > generation)
		return 0;
	deferred->id = 0;
	return result ? 0 : deferred_stack_set_frames(deferred, frames, stack.depth, stack.flags);
}

int event_stack_read_deferred(const struct loaded *loaded, const struct ring_view *ring,
			      u64 position, struct deferred_stack *deferred)
{
	const struct event_slot *slot = ring_slot(ring, position);
	u32 state = EVENT_USER_STATE(STAMP_FLAGS(slot->stamp)), field = slot->user;
	u32 depth = 0, flags = 0;
	u64 frames[STACK_WORDS_MAX];

	deferred->leaf = loaded->plan.config.leaf ? slot->extra[0] : 0;
	deferred->reason = state == STATE_NONE && field < REASON_COUNT ? field : REASON_GONE;
	if (state == STATE_ID)
		deferred->id = field;
	if (state == STATE_INLINE)
		depth = ring_read_run(ring, position, field, frames, &flags);
	return depth ? deferred_stack_set_frames(deferred, frames, depth, flags & FLAGS_WRITTEN)
		     : 0;
}

/* Copies the frames of a deferred stack without the leaf. -ENOENT: the stack has no frames;
 * -ESTALE: the stack map does not have the frames any more. */
static int copy_deferred_frames(const struct loaded *loaded, const struct deferred_stack *deferred,
				u64 *frames, struct trace_stack *stack)
{
	if (deferred->id)
		return copy_frames_of_stack_id(loaded, deferred->id, frames, stack);
	if (!deferred->depth)
		return -ENOENT;
	*stack = (struct trace_stack){
		.depth = deferred->depth, .flags = deferred->flags, .frames = frames};
	memcpy(frames, deferred->frames, deferred->depth * sizeof(*frames));
	return 0;
}

/* Writes a deferred stack with its leaf. The full stack is added to the stack map, so that an equal
 * stack of another event has the same id. A snapshot of a running instance does not change the
 * stack map. */
static int write_stack_with_leaf(struct recording *recording, const struct deferred_stack *deferred,
				 struct stack_ref *ref)
{
	u64 frames[1 + STACK_WORDS_MAX] = {deferred->leaf};
	struct trace_stack stack = {};
	int result = copy_deferred_frames(recording->loaded, deferred, frames + 1, &stack);

	if (result)
		return result;
	stack.frames = frames;
	stack.depth = stack.depth < STACK_WORDS_MAX ? stack.depth + 1 : STACK_WORDS_MAX;
	stack.generation = 0;
	stack.id = generation_find_or_add_stack(recording->loaded, frames, stack.depth, stack.flags,
						!loaded_is_frozen(recording->loaded));
	if (stack.id)
		return write_stack_of_stack_id(recording, stack.id, ref);
	return write_stack(recording, &stack, ref);
}

static int write_stack_without_leaf(struct recording *recording,
				    const struct deferred_stack *deferred, struct stack_ref *ref)
{
	u64 frames[STACK_WORDS_MAX];
	struct trace_stack stack;
	int result;

	if (deferred->id)
		return write_stack_of_stack_id(recording, deferred->id, ref);
	result = copy_deferred_frames(recording->loaded, deferred, frames, &stack);
	return result ?: write_stack(recording, &stack, ref);
}

int event_stack_write_deferred(struct recording *recording, struct deferred_stack *deferred,
			       enum deferred_form form, struct stack_ref *ref)
{
	struct stack_ref *written = &deferred->form[form].ref;
	int result = event_stack_write_mapping(recording, deferred->leaf);

	if (!deferred->form[form].written) {
		bool joins = deferred->leaf && form == DEFERRED_FULL;

		result =
			result
				?: (joins ? write_stack_with_leaf(recording, deferred, written)
					  : write_stack_without_leaf(recording, deferred, written));
		result = set_reason_if_stack_is_gone(
			result, deferred->id ? REASON_GONE : deferred->reason, written);
		deferred->form[form].written = true;
	}
	*ref = *written;
	return result;
}
