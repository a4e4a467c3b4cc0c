/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One memory for the direct walk and the unwinder, with the rules, steps and table that they share.
 */
#ifndef TESTS_WALKED_MEMORY_H
#define TESTS_WALKED_MEMORY_H

#include "unwind/direct_walk.h"
#include "unwind_memory.h"

#define WALKED_WORDS 4096 /* whole pages */
#define WORD(i) (MEMORY_BASE + 8 * (u64)(i))

extern u64 memory[WALKED_WORDS];
extern struct rule_cache rules;
extern struct step_cache steps;
extern struct direct_walk walk;
extern struct stack stack;
extern struct unwind unwind;
extern struct unwind builder; /* frame for which rule_keep() adds a rule */
extern struct direct direct;
extern bool is_generated_code;
extern bool is_code_apart;
extern u64 file_moved; /* file offset of the memory's mapping */

/* Chunks of the file's table, which has one leaf with two rules. */
enum { CHUNK_ROOT, CHUNK_NODE, CHUNK_LEAF, CHUNK_RULES, CHUNKS };
extern struct file_table_chunk chunks[CHUNKS];
extern bool has_table;

/* Puts a rule for the builder's pc into the cache. */
void rule_keep(const struct unwind_rule *rule);

/* The direct walk's form of a frame of the unwinder. */
static inline u64 frame_of_walk(u64 frame)
{
	return MEMORY_FRAME(frame & ~FRAME_GUESSED) | (frame & FRAME_GUESSED);
}

#endif
