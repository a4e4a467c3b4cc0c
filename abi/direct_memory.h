/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The working memory of one walk up the user stack at the event itself (core/unwind/direct_walk.h).
 */
#ifndef STACKMAP_ABI_DIRECT_MEMORY_H
#define STACKMAP_ABI_DIRECT_MEMORY_H

#include "near_code.h"
#include "return_memory.h"
#include "rule_search_memory.h"
#include "scalar.h"
#include "script.h"
#include "stack_switches.h"
#include "step_cache.h"

#define WALK_WINDOW_WORDS 64 /* a power of two */

struct direct_walk {
	/* Input: */
	struct unwind_registers registers;
	struct rule_search search; /* `space` is input */
	u32 is_compat;		   /* 1: the task runs 32-bit code */
	u32 max_depth;		   /* frames, the leaf included: 1 .. STACK_WALK_DEPTH_MAX */
	u32 leaf_apart;		   /* 1: the leaf goes to `leaf`, the stack begins at the caller */
	u32 slot;		   /* scratch slot of this CPU: slot 0 owns the step cache */

	/* Output: */
	u32 stop;	/* enum stop_reason */
	u32 is_cut;	/* 1: not final only because rules of the last frame's file are to come */
	u64 leaf;	/* frame of the leaf; 0: none */
	u32 is_final;	/* 1: another unwinder would find no more frames */
	u32 is_guessed; /* 1: a step was not proven; all frames behind it have FRAME_GUESSED */
	u64 generation; /* STEP_GENERATION() of steps that count; input */
	struct script_marks scripts; /* frames of loops, innermost first */

	/* State of the walk: */
	struct stack_switches switches;
	struct go_caller go;
	u64 interrupted;  /* STEP_INTERRUPTED if the current pc is exact, else 0 */
	u64 window_start; /* address of window[0] */
	u64 window_bytes; /* bytes of the stack in `window`, whole words */
	u64 window[WALK_WINDOW_WORDS];
	struct near_code code; /* for code without tables */
	struct return_search returns;
	u64 searched_pc;	 /* pc that the last search in `returns` found; 0: none */
	u32 step_index;		 /* index in the step cache */
	u32 is_generated;	 /* 1: the current pc's code has no file with tables */
	u32 is_unlisted;	 /* 1: a rule made from code, and the file had no table then */
	u32 is_by_code;		 /* 1: no table covers the pc, so the code is read */
	u32 frame_index;	 /* of the current frame, if its step is not plain */
	struct cached_step step; /* a step that is not in the cache */
};

#endif
