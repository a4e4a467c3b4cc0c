/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "script_memory.h"

#include "script_marks.h"

#include <string.h>

#include "unit_test.h"

u64 memory[WORDS];
u32 memory_next; /* first free word */
struct script_cache cache;
struct script_marks marks;
struct script_walk walk;
struct stack native, stack;
bool is_layout_known;
u64 interned; /* the id that script_find_or_add_id() gives; 0: none */
struct script_layout layout;
u64 thread_pointer;

struct script script = {
	.walk = &walk, .marks = &marks, .cache = &cache, .native = &native, .stack = &stack};

bool script_read(u64 address, void *buffer, u32 bytes)
{
	if (address < BASE || address - BASE + bytes > sizeof(memory))
		return false;
	memcpy(buffer, (u8 *)memory + (address - BASE), bytes);
	return true;
}

const struct script_layout *script_layout_of(struct script *of, u32 number)
{
	(void)of;
	return is_layout_known && number == LOOP_MAPPING ? &layout : NULL;
}

u64 script_thread_pointer(void)
{
	return thread_pointer;
}

u64 script_find_or_add_id(struct script *of)
{
	(void)of;
	return interned;
}

void mark_add(const struct script_mark *mark)
{
	struct script_mark *place = script_marks_add(&marks, mark->index);

	if (place)
		*place = *mark;
}

u64 room(u32 words)
{
	u64 address = AT(memory_next);

	memory_next += words;
	return address;
}

u64 *word_at(u64 address)
{
	return &memory[(address - BASE) / 8];
}

void native_make(u32 depth)
{
	native.depth = depth - walk.leaf_apart;
	native.flags = STACK_USER;
	for (u32 i = 0; i < depth; i++)
		native.word[(i - walk.leaf_apart) & (STACK_WORDS_MAX - 1)] = NATIVE(i);
}

/* The layout of CPython 3.11 or of 3.12. */
void begin(bool entry_is_frame)
{
	memset(memory, 0, sizeof(memory));
	memset(&cache, 0, sizeof(cache));
	memset(&marks, 0, sizeof(marks));
	memory_next = 1;
	is_layout_known = true;
	interned = 0;
	walk = (struct script_walk){.seed = 0x1234567, .max_depth = STACK_WALK_DEPTH_MAX};
	layout = (struct script_layout){.runtime = SCRIPT_CPYTHON,
					.loop = LOOP_OFFSET,
					.link = 168,
					.link_kind = SCRIPT_LINK_FRAME,
					.type = TYPE_DISTANCE,
					.frame_code = entry_is_frame ? 32 : 0,
					.frame_previous = entry_is_frame ? 48 : 8,
					.entry_mark = entry_is_frame ? 68 : 70,
					.entry_value = entry_is_frame ? 1 : 3,
					.entry_mask = 0xff,
					.entry_is_frame = entry_is_frame,
					.code_type = 8,
					.code_name = 128,
					.code_file = 112,
					.code_lines = 136,
					.text_ascii = 48,
					.text_wide = 72,
					.first_line = 72};
}

void check_frames(const u64 *expected, u32 count)
{
	assert_int_equal(stack.depth, count);
	for (u32 i = 0; i < count; i++)
		assert_int_equal(stack.word[i], expected[i]);
}

void register_make(u32 index, u64 frame, u64 place)
{
	const struct script_mark mark = {.cfa = AT(WORDS - 8),
					 .pc = LOOP_PC + 0x20,
					 .place = FRAME_USER(LOOP_MAPPING, LOOP_OFFSET + 0x20),
					 .index = index,
					 .frame = frame,
					 .code_place = place};

	mark_add(&mark);
}
