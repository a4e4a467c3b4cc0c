/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for the return address of a frame that no rule covers (core/arch/return_search.h).
 */
#ifndef STACKMAP_ABI_RETURN_MEMORY_H
#define STACKMAP_ABI_RETURN_MEMORY_H

#include "scalar.h"

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
	u32 is_interrupted; /* 1: the pc is exact, not behind a call */
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
	u32 calls;    /* 1 + index of the first word behind another call; 0: none */
	u32 pointer_kind; /* enum return_kind of the word above the frame pointer */
	/* 1: the frame pointer points to a 0, so its caller is the outermost frame */
	u32 is_chain_end;
	u32 saved_pointer;  /* 1 + index of the last possible frame pointer; 0: none */
	u32 called_pointer; /* the same for words before `called` */
	u32 is_guess;	    /* 1: the chosen word is not proven */
};

#endif
