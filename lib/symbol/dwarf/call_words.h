/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calling conventions of C and C++: which registers, or which bytes of the stack, have an
 * argument at the entry of a function. Sources: System V ABI, AMD64 supplement, 3.2.3; AAPCS64,
 * 6.8.2; Itanium C++ ABI, 3.1.
 */
#ifndef LIB_SYMBOL_CALL_WORDS_H
#define LIB_SYMBOL_CALL_WORDS_H

#include <stdbool.h>

#include "scalar.h"

enum call_convention { CALL_SYSV, CALL_AAPCS64 };

/* The kind of register in which a word of 8 bytes is passed. If a word has parts of two classes,
 * the larger number counts.
 */
enum call_class { CALL_NOTHING, CALL_FLOAT, CALL_INTEGER };

#define CALL_WORDS 2

/* The properties of a type that decide how a calling convention passes its values. */
struct call_shape {
	u64 bytes;
	u32 align;
	u8 words[CALL_WORDS]; /* enum call_class of each word, for types up to 16 bytes */
	u32 floats; /* number of floats in a structure of one to four floats of one size; a float
		       alone has 1, other types have 0 */
	bool is_composite; /* a structure or an array */
	bool in_memory; /* System V: values of the type are passed on the stack, whatever their size
			 */
	bool by_reference; /* values of the type are passed by the address of a copy */
};

/* The registers and stack bytes that earlier arguments took. */
struct call_state {
	u32 integers, floats;
	u64 stack;
};

struct call_place {
	s32 registers[CALL_WORDS]; /* index of the argument register of each word; -1: none */
	s64 stack; /* offset on the stack, in bytes from the first argument there; -1: the argument
		      is not on the stack */
	bool is_address; /* the place holds the address of the argument */
};

/* True if the caller passes, before the first argument, the address at which a result of this type
 * is to be stored. */
bool call_passes_address_of_result(enum call_convention convention,
				   const struct call_shape *result);

/* Gives the place of the next argument and counts it in *state. */
struct call_place call_next_argument_place(enum call_convention convention,
					   const struct call_shape *shape,
					   struct call_state *state);

#endif
