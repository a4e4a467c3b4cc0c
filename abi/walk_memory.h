/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The working memory of one walk up the user stack at the event itself (core/unwind/direct_walk.h):
 * first the memory of the walk's parts, then the walk.
 */
#ifndef STACKMAP_ABI_WALK_MEMORY_H
#define STACKMAP_ABI_WALK_MEMORY_H

#include "file_table.h"
#include "mapping.h"
#include "rule_cache.h"
#include "scalar.h"
#include "script.h"

/* The code around a pc, and the result of reading it (core/arch/code_rule.h). */

/* Bytes before a pc, bytes from the pc on, and bytes of one read. */
#define NEAR_CODE_BEFORE 24 /* musl's _start clears rbp 19 bytes before its call */
#define NEAR_CODE_AFTER 104
#define NEAR_CODE_STEP 8
#define NEAR_CODE_BYTES (NEAR_CODE_BEFORE + NEAR_CODE_AFTER)

struct near_code {
	/*
	 * Input. Unreadable bytes, and bytes outside of code, are 0. The last words are never used:
	 * a verifier that knows the bounds of an index and of an offset apart demands room for the
	 * sum of both.
	 */
	u64 word[(NEAR_CODE_BEFORE + NEAR_CODE_BYTES) / 8];

	/* State of the scan: */
	s64 bytes; /* change of rsp from the pc to `at` */
	/* by machine number: 1 + offset from rsp that the register is popped from */
	s64 popped[16];
	u32 at; /* offset of the last scanned instruction from the pc */
	u32 instructions;
	u32 has_end;
	u32 after_branch; /* 1: the instruction before was a conditional jump */
	u32 length;	  /* of the instruction, without its prefix; 0: it is not understood */
	s32 words;	  /* on the stack, where only an interrupted frame can be; -1: other code */
};

/*
 * The search for the return address of a frame that no rule covers (core/arch/return_search.h).
 */

/* Stack words that are searched, from rsp on: at most up to the frame pointer's word, and fewer
 * where rbp is not a frame pointer. */
#define RETURN_WORDS_MAX 64
#define RETURN_WORDS_POINTERLESS 16

/* The kind of code in front of the address that a stack word holds. */
enum return_kind {
	RETURN_NO_CALL,
	RETURN_INDIRECT, /* an indirect call: any function */
	RETURN_DIRECT,	 /* a direct call of another function */
	RETURN_OF_CALL,	 /* a direct call of a function that seems to contain the pc */
	RETURN_NEVER,	 /* value of `enough`: all words are searched */
};

struct return_search {
	/* Input: */
	u64 pc;
	u64 rsp;
	u64 rbp;
	u64 link;	 /* arm64: the return address in x30, without its signature; 0: not known */
	u64 code_mask;	 /* arm64: the bits of an address of code */
	u32 word;	 /* bytes of a stack word: 4 in a 32-bit task, else 8 */
	u32 knows_rbp;	 /* 1: rbp has the value that the frame's function sees */
	u32 is_at_entry; /* 1: the pc is a function's first instruction */
	u32 flags;	 /* enum rule_flag of the rule for code without tables */
	u32 is_interrupted; /* 1: the pc is exact, not after a call */
	u32 is_generated;   /* 1: the code has no file with tables */
	u32 is_unlisted;    /* 1: the file has no table yet that could say more of the code */
	/* Derived from the input: */
	u32 is_far;   /* 1: the frame pointer points beyond the searched words */
	u32 words;    /* number of searched words */
	u32 pointer;  /* index of the word above the frame pointer; >= words: far away */
	u32 first;    /* index of the word that is searched first: 0, or `pointer` */
	u32 skew;     /* 1 if `first` is `pointer` */
	u32 enough;   /* enum return_kind: a first word of this or a later kind ends the search */
	u32 may_hide; /* 1: a frame of unlisted code that has called, with a frame pointer in rbp */
	/* The current word: */
	u32 at;	     /* index above rsp */
	u64 address; /* address of the word */
	u64 value;
	u64 before;    /* the eight bytes in front of the address `value` */
	u32 is_unread; /* 1: the word could not be read */
	/* Output: */
	u64 target;   /* start of the function that `called` calls */
	u32 called;   /* 1 + index of the RETURN_OF_CALL word with the nearest target; 0: none */
	u32 is_inner; /* 1: `called` may be the return of a helper to the pc's own function */
	u32 calls; /* 1 + index of the first word that is a return address of another call; 0: none
		    */
	u32 pointer_kind; /* enum return_kind of the word above the frame pointer */
	/* 1: the frame pointer points to a 0, so its caller is the outermost frame */
	u32 is_chain_end;
	u32 saved_pointer;  /* 1 + index of the last possible frame pointer; 0: none */
	u32 called_pointer; /* the same for words before `called` */
	u32 is_guess;	    /* 1: the chosen word is not proven */
};

/* A search for the rule of a pc in a file (core/unwind/rule_search.h). */

struct rule_search {
	/* Input: */
	struct address_space space;
	u64 place; /* place of the pc, as in struct rule_key */
	u64 pc;

	/* Output: */
	struct unwind_rule rule;
	u32 is_lasting;	 /* 1: the rule holds in every process and as long as the file exists */
	u32 is_listed;	 /* 1: the file's table says that it does not cover the code */
	u32 table_steps; /* rules found in tables of whole files; the owner sets it to 0 */

	/* State of the search: */
	struct file_table_search table;
	u64 word; /* the code before the pc */
};

/* The stacks that one walk has left (core/stack_switch.h). */

#define STACK_SWITCHES_MAX 8 /* a power of two */

struct stack_range {
	u64 from, to; /* rsp of the first and of the last frame on this stack */
};

struct stack_switches {
	u64 entered; /* rsp of the first frame on the current stack */
	u32 count;
	u32 reserved;
	struct stack_range left[STACK_SWITCHES_MAX];
};

/*
 * The caller of a frame on Go's scheduler stack, while a walk looks for the caller
 * (core/unwind/go_stack.h).
 */
struct go_caller {
	u64 goroutine; /* address of the goroutine's g */
	u64 depth;     /* depth of the goroutine's stack in bytes, as its runtime has noted it */
	u64 before;    /* the eight bytes in front of pc */
	u64 cfa;
	u64 pc;
	u64 saved_rbp;
	u64 rbp;
	u32 knows_rbp;
	u32 reserved;
};

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
	u32 is_guessed; /* 1: a step was not proven; all frames after it have FRAME_GUESSED */
	u32 leaves_generated;	/* 1: the walk stops at generated code; the callback unwinds it */
	u32 has_left_generated; /* 1: it has stopped there */
	u64 generation;		/* STEP_GENERATION() of steps that count; input */
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
