/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The working memory of one walk up the user stack at the event itself (core/unwind/direct_walk.h).
 */
#ifndef STACKMAP_ABI_DIRECT_MEMORY_H
#define STACKMAP_ABI_DIRECT_MEMORY_H

#include "near_code.h"
#include "return_memory.h"
#include "rule_search_memory.h"
#include "scalar.h"
#include "stack_switches.h"
#include "step_cache.h"

#define WALK_WINDOW_WORDS 64 /* a power of two */

struct direct_walk {
	/* In: */
	struct unwind_registers registers;
	struct rule_search search; /* its space */
	u32 is_compat;		   /* a 32-bit task */
	u32 max_depth;		   /* frames, the leaf too: 1 .. STACK_WALK_DEPTH_MAX */
	u32 leaf_apart;		   /* 1: the leaf goes to `leaf`, the stack begins at its caller */
	u32 slot;		   /* of this CPU: the first one owns the step cache */

	/* Out: */
	u32 stop; /* enum stop_reason */
	u32 reserved0;
	u64 leaf;	/* 0: none */
	u32 is_final;	/* the unwinder would make no more of this stack */
	u32 is_guessed; /* a step was not proven: all frames behind it have FRAME_GUESSED */

	/* The walk: */
	struct stack_switches switches;
	struct go_caller go;
	u64 interrupted;  /* STEP_INTERRUPTED or 0: of the current pc */
	u64 window_start; /* of the stack words that are here: an address, whole words */
	u64 window_bytes; /* how many */
	u64 window[WALK_WINDOW_WORDS];
	struct near_code code; /* without tables */
	struct return_search returns;
	u64 searched_pc;  /* where the last of these led; 0: nowhere */
	u32 step_index;	  /* in the step cache */
	u32 is_generated; /* the current pc's code has no file with tables */
	u32 is_by_code;	  /* the code is read, as no table covers it */
	u32 reserved;
	struct cached_step step; /* of a place that was not there */
};

#endif
