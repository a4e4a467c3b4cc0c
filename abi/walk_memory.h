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

/* Numbers of bytes that are read before a pc, from the pc on, and at once. */
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
	s64 bytes; /* sum of the changes of rsp from the pc to `at` */
	/*
	 * for each register, by machine number: 1 + offset from rsp of the word that is popped into
	 * it
	 */
	s64 popped[16];
	u32 at; /* offset of the last scanned instruction from the pc */
	u32 instructions;
	u32 has_end;
	u32 after_branch; /* 1: the last scanned instruction is a conditional jump */
	/* length of an instruction without its prefix; 0: the instruction is not understood */
	u32 length;
	/*
	 * number of words between rsp and the return address, if the pc is where only an
	 * interrupted frame can be; -1: other code
	 */
	s32 words;
};

/*
 * The search for the return address of a frame that no rule covers (core/arch/return_search.h).
 */

/*
 * Most stack words that are searched, from rsp on: at most up to the frame pointer's word, and
 * fewer where rbp is not a frame pointer.
 */
#define RETURN_WORDS_MAX 64
#define RETURN_WORDS_POINTERLESS 16

/* The kind of code in front of the address that a stack word holds. */
enum return_kind {
	RETURN_NO_CALL,
	RETURN_INDIRECT, /* an indirect call: any function */
	RETURN_DIRECT,	 /* a direct call of another function */
	RETURN_OF_CALL,	 /* a direct call of the function that seems to contain the pc */
	RETURN_NEVER,	 /* no kind of a word, only a value of `enough`: all words are searched */
};

struct return_search {
	/* Input: */
	u64 pc;
	u64 rsp;
	u64 rbp;
	u64 link;      /* arm64: the return address in x30, without its signature; 0: not known */
	u64 code_mask; /* arm64: the bits that make up an address of code */
	/* arm64: the range of the mapping that holds the pc; both 0: not known */
	u64 mapping_start, mapping_end;
	u32 is_vdso;	 /* arm64, 1: this mapping is the vdso */
	u32 word;	 /* bytes of a stack word: 4 in a 32-bit task, else 8 */
	u32 knows_rbp;	 /* 1: rbp has the value that the frame's function sees */
	u32 is_at_entry; /* 1: the pc is a function's first instruction */
	u32 flags;	 /* enum rule_flag of the rule that was made for the code without tables */
	u32 is_interrupted; /* 1: the pc is exact, not after a call */
	u32 is_generated;   /* 1: the code of the pc does not belong to a file with tables */
	u32 is_unlisted;    /* 1: the file has no table yet that could say more of the code */
	/* Derived from the input: */
	u32 is_far;  /* 1: the frame pointer points beyond the searched words */
	u32 words;   /* number of searched words */
	u32 pointer; /* index of the word above the frame pointer; >= words: far away */
	u32 first;   /* index of the word that is examined first: 0, or `pointer` */
	u32 skew;    /* 1 if `first` is `pointer` */
	/* enum return_kind: the search ends if the first word is of this or a later kind */
	u32 enough;
	/* 1: the frame's code is unlisted, the frame has made a call, and rbp is a frame pointer */
	u32 may_hide;
	/* The word that is examined: */
	u32 at;	     /* index of the word, counted from rsp upwards */
	u64 address; /* address of the word */
	u64 value;
	u64 before;    /* the eight bytes in front of the address `value` */
	u32 is_unread; /* 1: the word could not be read */
	/* Output: */
	u64 target; /* start of the function that the call before the return address `called` calls
		     */
	/* 1 + index of the RETURN_OF_CALL word whose target is nearest to the pc; 0: none */
	u32 called;
	u32 is_outside; /* arm64, 1: `link` is a return address outside of the pc's mapping */
	u32 is_inner;	/* 1: `called` may be the return of a helper to the pc's own function */
	/*
	 * 1 + index of the first word that is the return address of another call: of an indirect
	 * call, or of a call of another function; 0: none
	 */
	u32 calls;
	u32 pointer_kind; /* enum return_kind of the word above the frame pointer */
	/* 1: the frame pointer points to a 0, so its caller is the outermost frame */
	u32 is_chain_end;
	u32 saved_pointer;  /* 1 + index of the last word that may be a frame pointer; 0: none */
	u32 called_pointer; /* 1 + index of the last word before `called` that may be a frame
			       pointer; 0: none */
	u32 is_guess;	    /* 1: the word that the search chose is not proven */
};

/* A search for the rule of a pc in a file (core/unwind/rule_search.h). */

struct rule_search {
	/* Input: */
	struct address_space space;
	u64 place; /* the pc as a place in its file, as in struct rule_key */
	u64 pc;

	/* Output: */
	struct unwind_rule rule;
	u32 is_lasting; /* 1: the rule holds in every process and as long as the file exists */
	/* 1: the file has a table, and the table says that it does not cover the code */
	u32 is_listed;
	/*
	 * number of rules that were found in tables of whole files; the owner of the search sets
	 * the number to 0
	 */
	u32 table_steps;

	/* State of the search: */
	struct file_table_search table;
	/* code bytes directly before the pc, in which a system call instruction is looked for */
	u64 word;
};

/* The stacks from which one walk has switched to another stack (core/stack_switch.h). */

#define STACK_SWITCHES_MAX 8 /* most left stacks that a walk remembers; a power of two */

struct stack_range {
	/* rsp of the first and of the last frame that the walk met on the left stack */
	u64 from, to;
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
	u64 goroutine; /* address of the goroutine's struct g */
	u64 depth;     /* depth of the goroutine's stack in bytes, as its runtime has noted it */
	u64 before;    /* the eight bytes of code in front of pc */
	u64 cfa;
	u64 pc;
	u64 saved_rbp;
	u64 rbp;
	u64 link; /* arm64: x30 of a caller that has called morestack(); 0: not known */
	u32 knows_rbp;
	u32 reserved;
};

#define WALK_WINDOW_WORDS 64 /* most words of the window; a power of two */

struct direct_walk {
	/* Input: */
	struct unwind_registers registers;
	/* search for the rule of the current pc; `search.space` is input */
	struct rule_search search;
	u32 is_compat;	/* 1: the task runs 32-bit code */
	u32 max_depth;	/* most frames, the leaf included: 1 .. STACK_WALK_DEPTH_MAX */
	u32 leaf_apart; /* 1: the leaf goes to `leaf`, the stack begins at the caller */
	u32 slot;	/* number of the scratch slot on this CPU: slot 0 owns the step cache */

	/* Output: */
	u32 stop; /* enum stop_reason */
	/*
	 * 1: the walk is not final only because the rules of the last frame's file are still to be
	 * made
	 */
	u32 is_cut;
	u64 leaf;	/* the innermost frame, if it is kept apart from the stack; 0: none */
	u32 is_final;	/* 1: another unwinder would find no more frames */
	u32 is_guessed; /* 1: a step was not proven; all frames after it have FRAME_GUESSED */
	/* 1: a walk must stop at generated code, because the callback can unwind it */
	u32 leaves_generated;
	/* 1: the walk has stopped at generated code, or at a loop that is left to the callback */
	u32 has_left_generated;
	u64 generation;		     /* STEP_GENERATION() of steps that count; input */
	struct script_marks scripts; /* native frames of interpreters' loops, innermost first */

	/* State of the walk: */
	struct stack_switches switches;
	struct go_caller go;
	u64 interrupted;  /* STEP_INTERRUPTED if the current pc is exact, else 0 */
	u64 window_start; /* address of window[0] */
	u64 window_bytes; /* number of bytes of the stack in `window`, whole words */
	u64 window[WALK_WINDOW_WORDS];
	struct near_code code; /* code around the pc, if no table covers it */
	struct return_search returns;
	u64 searched_pc;  /* pc to which the last search in `returns` led; 0: none */
	u32 step_index;	  /* index in the step cache */
	u32 is_generated; /* 1: the current pc's code has no file with tables */
	u32 is_unlisted;  /* 1: the rule was made from code at a time when the file had no table */
	u32 is_by_code;	  /* 1: no table covers the pc, so the code is read */
	/* number of the current frame in the stack; set if its step is not plain */
	u32 frame_index;
	struct cached_step step; /* a step that is not in the cache */
};

#endif
