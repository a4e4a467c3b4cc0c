/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fast walk up a user stack, during the event itself. It steps by rules that are already known,
 * over stack words that can be read without a page fault. Where a rule or a word is missing, the
 * walk ends, and the caller has the stack unwound later by the whole unwinder (unwind.h).
 *
 * If walk->is_final, the stack equals that of unwind_stack(): it ends at the root or at the limit
 * of frames, or where neither tables nor code nor the words on the stack lead to a caller. Any
 * other stop reason only says why the walk could not go on.
 *
 * The embedder supplies four functions, and those of rule_search.h: natively by linking them, in
 * BPF by defining them before it includes cached_rule.c, code_rule.c, return_search.c,
 * rule_search.c, table_search.c and direct_walk.c.
 */
#ifndef CORE_DIRECT_WALK_H
#define CORE_DIRECT_WALK_H

#include <stdbool.h>

#include "env.h"
#include "rule_cache.h"
#include "rule_search.h"
#include "stack.h"
#include "walk_memory.h"

struct code_range {
	u64 start, end;
	u64 is_vdso; /* 1: the range is the vdso */
};

struct direct {
	struct direct_walk *walk;
	struct step_cache *steps;
	struct rule_cache *rules;
	struct stack *stack; /* receives the walk's frames, depth and flags */
	void *memory;	     /* data of the embedder, for direct_read(); the walk does not use it */
};

/* Defined by the embedder: reads memory of the task without a page fault, all bytes or none. */
CORE_INLINE bool direct_read(u64 address, void *buffer, u32 bytes);

/*
 * Defined by the embedder: the frame of a pc, and whether the pc is in generated code. 0: the pc
 * has no frame. If a probe has replaced the return address, the embedder puts the true pc into the
 * registers.
 */
CORE_INLINE u64 direct_frame_of_pc(struct direct *direct, u64 pc, bool *is_generated);

/*
 * Defined by the embedder, for the pc of the last direct_frame_of_pc() call.
 * direct_code_has_no_elf_header(): true if the pc lies in the mapping of a file, and the tables of
 * that file cannot be found. direct_mapping_range(): the range of the mapping that contains the pc.
 */
CORE_INLINE bool direct_code_has_no_elf_header(struct direct *direct);
CORE_INLINE struct code_range direct_mapping_range(struct direct *direct);

/* Walks up the stack from walk->registers. */
CORE_INLINE void direct_walk(struct direct *direct);

#endif
