/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An offset may have 64 bits, a place of a recording has 40: each part of 2^40 bytes that an object
 * uses is a region. A frame is known by the byte of its instruction; a return address is one byte
 * further, where readers look one byte back.
 *
 * A symbol for each frame that has one; of those with one start the writer keeps one.
 */
#include "store/read/placed_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/event/frame_identity.h"
#include "report/event/stack_end.h"
#include "report/name/frame_names.h"
#include "symbol/demangle/demangler.h"

#define REGIONS_MAX (1U << 22)
#define INLINED_REGION UINT64_MAX /* as the part of an object */
#define PATH_REST "[rest]"
#define PATH_NOT_STORED "[not_stored]"
#define INLINED_BYTES 2 /* of the place of a name */

struct region {
	struct intern_key key; /* object, part */
	u32 number;	       /* from 1; a mapping number, or the kernel's part */
	u32 names;	       /* of inlined functions by now */
};

struct inlined {
	struct intern_key key; /* object, address of the name */
	u64 place;	       /* 0: not made yet */
};

struct placed_code {
	const struct store_code *code;
	struct trace_writer *writer;
	struct demangler *demangler; /* NULL: inlined functions are left out */
	struct placed_stack *stacks; /* by number */
	struct placed_stack not_stored;
	u64 *places; /* by frame; 0: not made yet */
	struct intern regions, inlined;
	struct text_set names;
	u32 region_count;
	u64 frames[STACK_WORDS_MAX]; /* of the side in work */
	u32 depth;
};

int placed_code_create(const struct store_code *code, bool no_inlined, struct trace_writer *writer,
		       struct placed_code **out)
{
	struct placed_code *placed = calloc(1, sizeof(*placed));
	int err = placed ? 0 : -ENOMEM;

	if (err)
		return err;
	placed->code = code;
	placed->writer = writer;
	placed->regions = INTERN(struct region);
	placed->inlined = INTERN(struct inlined);
	placed->names = TEXT_SET;
	placed->stacks = calloc(code->stack_count + 1UL, sizeof(*placed->stacks));
	placed->places = calloc(code->frames.count + 1UL, sizeof(*placed->places));
	if (!placed->stacks || !placed->places ||
	    (!no_inlined && demangler_create(&placed->demangler)))
		placed_code_free(&placed);
	else
		*out = placed;
	return placed ? 0 : -ENOMEM;
}

void placed_code_free(struct placed_code **placed)
{
	struct placed_code *old = *placed;

	*placed = NULL;
	if (!old)
		return;
	demangler_free(&old->demangler);
	intern_clear(&old->regions);
	intern_clear(&old->inlined);
	text_set_clear(&old->names);
	free(old->stacks);
	free(old->places);
	free(old);
}

/* --- regions --- */

static bool is_generated(const struct store_object *object)
{
	if (object->kind == FRAME_BY_NAME)
		return true;
	return object->kind == FRAME_BY_HOST && object->path[0] == '[' &&
	       strcmp(object->path, "[vdso]") != 0;
}

static int write_mapping(struct placed_code *placed, const struct store_object *object,
			 const struct region *region)
{
	u64 part = region->key.word[1];
	struct trace_mapping mapping = {
		.number = region->number,
		.kind = is_generated(object) ? MAPPING_ANON : MAPPING_FILE,
		.build_id_bytes = object->build_id_bytes,
		.path = object->path,
	};

	memcpy(mapping.build_id, object->build_id, object->build_id_bytes);
	if (mapping.kind == MAPPING_ANON && part != INLINED_REGION)
		mapping.base = part << FRAME_OFFSET_BITS;
	return trace_writer_mapping(placed->writer, &mapping);
}

static u64 kernel_start(const struct region *region)
{
	return 1ULL << 63 | (u64)region->number << FRAME_OFFSET_BITS;
}

/* "[kernel.kallsyms]" is "vmlinux", "[MODULE]" is "MODULE". */
static int write_module(struct placed_code *placed, const struct store_object *object,
			const struct region *region)
{
	size_t length = strlen(object->path);
	struct trace_module module = {
		.start = kernel_start(region),
		.end = kernel_start(region) + (1ULL << FRAME_OFFSET_BITS),
		.build_id_bytes = object->build_id_bytes,
	};
	char *name;
	int err;

	if (object->kind == FRAME_BY_NAME || length < 3)
		return 0;
	name = strcmp(object->path, "[kernel.kallsyms]") ? strndup(object->path + 1, length - 2)
							 : strdup("vmlinux");
	if (!name)
		return -ENOMEM;
	module.name = name;
	memcpy(module.build_id, object->build_id, object->build_id_bytes);
	err = trace_writer_module(placed->writer, &module);
	free(name);
	return err;
}

/* NULL without memory, or with too many of them. */
static struct region *region_of(struct placed_code *placed, const struct store_object *object,
				u64 part)
{
	const struct intern_key key = {.word = {object->number, part}};
	struct region *region = intern_entry(&placed->regions, &key);
	int err;

	if (!region || region->number)
		return region;
	if (placed->region_count == REGIONS_MAX)
		return NULL;
	region->number = ++placed->region_count;
	err = object->is_kernel ? write_module(placed, object, region)
				: write_mapping(placed, object, region);
	return err ? NULL : region;
}

static u64 place_in(const struct store_object *object, const struct region *region, u64 offset)
{
	if (object->is_kernel)
		return kernel_start(region) | (offset & FRAME_OFFSET_MASK);
	return FRAME_USER(region->number, offset);
}

/* 0 without memory. */
static u64 place_of(struct placed_code *placed, const struct store_object *object, u64 offset)
{
	const struct region *region;

	if (object->is_known && object->kind == FRAMES_OMITTED && offset)
		return FRAME_OMITTED(offset & FRAME_OFFSET_MASK);
	if (!object->is_known || object->kind == FRAME_UNKNOWN)
		return FRAME_USER(MAPPING_UNKNOWN, offset);
	if (object->is_kernel && FRAME_IS_KERNEL(offset))
		return offset;
	region = region_of(placed, object, offset >> FRAME_OFFSET_BITS);
	return region ? place_in(object, region, offset) : 0;
}

/* --- names --- */

static int write_symbol(struct placed_code *placed, u64 place, u64 size, const char *name)
{
	struct trace_symbol symbol = {.start = place, .size = size, .name = name};

	if (!FRAME_IS_KERNEL(place)) {
		symbol.mapping = FRAME_MAPPING(place);
		symbol.start = FRAME_OFFSET(place);
	}
	return trace_writer_symbol(placed->writer, &symbol);
}

/* Bounds that do not fit to the frame are not believed. */
static int name_frame(struct placed_code *placed, const struct store_frame *frame, u64 place)
{
	u64 offset = frame->key.word[2], before = offset - frame->start;
	bool is_bounded = frame->size && frame->start <= offset && before < frame->size &&
			  before <= (place & FRAME_OFFSET_MASK) && frame->size <= FRAME_OFFSET_MASK;
	u32 count = frame->function_count;
	const char *name = count ? frame->functions[count - 1] : "";

	if (!count && !is_bounded)
		return 0;
	return write_symbol(placed, is_bounded ? place - before : place,
			    is_bounded ? frame->size : 1, name);
}

static const char *inlined_name(struct placed_code *placed, const char *mangled)
{
	char *plain = demangler_name(placed->demangler, mangled), *text;
	const char *name = NULL;

	if (asprintf(&text, "%s" FRAME_INLINED_MARK,
		     plain
			     ?: *mangled ? mangled
					 : "[unknown]") >= 0) {
		name = text_set_intern(&placed->names, text);
		free(text);
	}
	free(plain);
	return name;
}

/* The place of a function that was inlined; 0 without memory. */
static u64 place_inlined(struct placed_code *placed, const struct store_object *object,
			 const char *mangled)
{
	const char *name = inlined_name(placed, mangled);
	const struct intern_key key = {.word = {object->number, intern_address(name)}};
	struct inlined *inlined = name ? intern_entry(&placed->inlined, &key) : NULL;
	struct region *region;

	if (!inlined || inlined->place)
		return inlined ? inlined->place : 0;
	region = region_of(placed, object, INLINED_REGION);
	if (!region)
		return 0;
	inlined->place = place_in(object, region, ++region->names * INLINED_BYTES);
	return write_symbol(placed, inlined->place, INLINED_BYTES, name) ? 0 : inlined->place;
}

/* --- stacks --- */

/* Beyond the limit of a recording a stack is cut: its caller sees that. */
static int add_frame(struct placed_code *placed, u64 place, bool is_first)
{
	if (!place)
		return -ENOMEM;
	if (placed->depth < STACK_WORDS_MAX)
		placed->frames[placed->depth++] = is_first ? place : place + 1;
	return 0;
}

/* Made and named once; 0 without memory. */
static u64 place_frame(struct placed_code *placed, const struct store_frame *frame)
{
	u64 *known = &placed->places[frame->number - 1], place;

	if (*known)
		return *known;
	place = place_of(placed, frame->object, frame->key.word[2]);
	if (!place || name_frame(placed, frame, place))
		return 0;
	*known = place;
	return place;
}

/* Of those that were inlined there the innermost was executed. */
static int add_place(struct placed_code *placed, const struct store_place *at, bool with_inlined)
{
	const struct store_frame *frame = at->frame;
	u64 place = place_frame(placed, frame);
	bool is_first = at->is_executed;
	int err = place ? 0 : -ENOMEM;

	for (u32 i = 0; with_inlined && i + 1 < frame->function_count && !err; i++) {
		err = add_frame(placed, place_inlined(placed, frame->object, frame->functions[i]),
				is_first);
		is_first = false;
	}
	return err ?: add_frame(placed, place, is_first);
}

/* How a side ends: as stacks do, or as those that are missing. */
static u8 reason_of(const char *end)
{
	for (u32 i = 0; i < REASON_COUNT; i++)
		if (!strcmp(stack_end_of_reason(i)->name, end))
			return i;
	return REASON_UNREADABLE;
}

static u32 flags_of(const char *end)
{
	if (!strcmp(end, "truncated"))
		return STACK_TRUNCATED;
	for (u32 i = STOP_NONE + 1; i < STOP_COUNT; i++)
		if (i != STOP_ROOT && !strcmp(stack_end_of_stop(i)->name, end))
			return i << STACK_STOP_SHIFT;
	return 0;
}

struct side {
	const struct store_place *places;
	u32 count;
	bool has_leaf; /* the first place is the leaf */
	const char *end;
	u32 flags; /* STACK_USER or 0 */
};

static int write_stack(struct placed_code *placed, u32 from, u32 flags, u32 *index)
{
	const struct trace_stack stack = {
		.flags = flags | (placed->depth == STACK_WORDS_MAX ? STACK_TRUNCATED : 0),
		.depth = placed->depth - from,
		.frames = placed->frames + from,
	};

	return stack.depth ? trace_writer_stack(placed->writer, &stack, index) : 0;
}

/* A leaf of a stack that is missing stands alone: what was inlined there has no place. */
static int place_side(struct placed_code *placed, const struct side *side, u64 *leaf, u32 *index,
		      u32 *flags)
{
	bool is_there = side->count > side->has_leaf;
	int err = 0;

	placed->depth = 0;
	for (u32 i = 0; i < side->count && !err; i++)
		err = add_place(placed, &side->places[i], placed->demangler && is_there);
	if (err)
		return err;
	if (side->has_leaf)
		*leaf = placed->frames[0];
	*index = TRACE_NO_STACK;
	*flags = side->flags | flags_of(side->end);
	return is_there ? write_stack(placed, side->has_leaf, *flags, index) : 0;
}

static int place_known(struct placed_code *placed, const struct store_stack *from,
		       struct placed_stack *to)
{
	const struct side kernel = {from->places, from->kernel_depth,
				    from->leaf == 1 && from->kernel_depth, from->kernel_end, 0};
	const struct side user = {
		from->places + from->kernel_depth, from->depth - from->kernel_depth,
		from->leaf == 2 && from->depth > from->kernel_depth, from->user_end, STACK_USER};

	to->kernel_reason = reason_of(from->kernel_end);
	to->user_reason = reason_of(from->user_end);
	return place_side(placed, &kernel, &to->leaf, &to->kernel, &to->kernel_flags)
		       ?: place_side(placed, &user, &to->leaf, &to->user, &to->user_flags);
}

/* One frame that says what is here instead of a stack. */
static int place_sign(struct placed_code *placed, const char *name, struct placed_stack *to)
{
	const struct trace_mapping mapping = {
		.number = placed->region_count + 1, .kind = MAPPING_FILE, .path = name};
	u64 place = FRAME_USER(mapping.number, INLINED_BYTES);

	placed->region_count++;
	*to = (struct placed_stack){.kernel = TRACE_NO_STACK,
				    .kernel_reason = REASON_NO_FRAMES,
				    .user_flags = STACK_USER};
	placed->depth = 0;
	return trace_writer_mapping(placed->writer, &mapping)
		       ?: write_symbol(placed, place, INLINED_BYTES, name)
		       ?: add_frame(placed, place, false)
		       ?: write_stack(placed, 0, STACK_USER, &to->user);
}

int placed_code_stack(struct placed_code *placed, u32 number, const struct placed_stack **out)
{
	const struct store_stack *from = &placed->code->stacks[number];
	struct placed_stack *stack = &placed->stacks[number];
	int err = 0;

	if (number != STORE_STACK_REST && !from->is_known)
		stack = &placed->not_stored;
	if (!stack->is_made && number == STORE_STACK_REST)
		err = place_sign(placed, PATH_REST, stack);
	else if (!stack->is_made && !from->is_known)
		err = place_sign(placed, PATH_NOT_STORED, stack);
	else if (!stack->is_made)
		err = place_known(placed, from, stack);
	if (err)
		return err;
	stack->is_made = true;
	*out = stack;
	return 0;
}
