/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The search for the return address of a frame that no rule covers (core/unwind/return_search.h).
 */
#ifndef STACKMAP_ABI_RETURN_MEMORY_H
#define STACKMAP_ABI_RETURN_MEMORY_H

#include "scalar.h"

#define RETURN_WORDS_MAX 64	    /* stack words from rsp on, up to the frame pointer's */
#define RETURN_WORDS_POINTERLESS 16 /* the same, if rbp is no frame pointer */

/* The kind of code in front of the address that a stack word holds. */
enum return_kind {
	RETURN_NO_CALL,
	RETURN_INDIRECT, /* a call of any function */
	RETURN_DIRECT,	 /* a call of another function */
	RETURN_OF_CALL,	 /* a call of the function that the pc lies in, as far as one can tell */
};

struct return_search {
	/* In: */
	u64 pc;
	u64 rsp;
	u64 rbp;
	u32 word;	    /* bytes: 4 of a 32-bit task, else 8 */
	u32 knows_rbp;	    /* rbp has the value that the frame's function sees */
	u32 is_at_entry;    /* the pc is a function's first instruction */
	u32 flags;	    /* of the rule of code without tables: enum rule_flag */
	u32 is_interrupted; /* the pc is exact, not behind a call */
	u32 is_generated;   /* the code has no file with tables */
	/* Follows from these: */
	u32 is_far;  /* the frame pointer points beyond the words that are looked at */
	u32 words;   /* that are looked at */
	u32 pointer; /* index of the word above the frame pointer; >= words: it is not near */
	u32 first;   /* index of the word that is looked at before all others: 0, or `pointer` */
	u32 skew;    /* 1: it is `pointer` */
	u32 enough;  /* enum return_kind: the first word, if of that or a later kind, is the last */
	/* The word that is looked at: */
	u32 at;	     /* its index above rsp */
	u64 address; /* where it lies */
	u64 value;
	u64 before; /* the eight bytes in front of that address */
	/* Out: */
	u64 target; /* start of the function of `called` */
	u32 called; /* 1 + index of the word of RETURN_OF_CALL whose target is nearest; 0: none */
	u32 calls;  /* 1 + index of the first word behind another call; 0: none */
	u32 pointer_kind;   /* enum return_kind of the word above the frame pointer */
	u32 is_chain_end;   /* the frame pointer points to a 0: its caller is the outermost frame */
	u32 saved_pointer;  /* 1 + index of the last word that may be a frame pointer; 0: none */
	u32 called_pointer; /* the same before `called` */
	u32 is_guess;	    /* what was chosen is not proven */
};

#endif
