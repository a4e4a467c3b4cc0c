/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A memory of words with the frames of a script, and a native stack whose loops run them. */
#ifndef SCRIPT_MEMORY_H
#define SCRIPT_MEMORY_H

#include "script_walk.h"

#define BASE 0x10000ULL
#define WORDS 65536
#define AT(word) (BASE + 8 * (u64)(word))
#define LOOP_MAPPING 7
#define LOOP_OFFSET 0x500
#define LOOP_PC 0x7000000ULL
#define TYPE_DISTANCE 0x3000
#define TYPE (LOOP_PC + TYPE_DISTANCE)
#define NATIVE(number) FRAME_USER(LOOP_MAPPING, 0x9000 + (number))

extern u64 memory[WORDS];
extern u32 memory_next; /* first free word */
extern struct script_cache cache;
extern struct script_marks marks;
extern struct script_walk walk;
extern struct stack native, stack;
extern bool is_layout_known;
extern u64 interned; /* the id that script_find_or_add_id() gives; 0: none */
extern struct script_layout layout;
extern u64 thread_pointer;
extern struct script script;

/* Empties memory, cache and stack, and sets the layout of CPython 3.11, or of 3.12. */
void begin(bool entry_is_frame);

/* Takes free words. */
u64 room(u32 words);
u64 *word_at(u64 address);

void mark_add(const struct script_mark *mark);
void register_make(u32 index, u64 frame, u64 place);
void native_make(u32 depth);
void check_frames(const u64 *expected, u32 count);

#endif
