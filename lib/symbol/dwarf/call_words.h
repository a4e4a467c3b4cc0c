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

/* Registers that a word of 8 bytes goes to; of two classes in one word, the larger number counts.
 */
enum call_class { CALL_NOTHING, CALL_FLOAT, CALL_INTEGER };

#define CALL_WORDS 2

/* The properties of a type that a convention depends on. */
struct call_shape {
	u64 bytes;
	u32 align;
	u8 words[CALL_WORDS]; /* enum call_class, of types up to 16 bytes */
	u32 floats; /* a float is 1; a structure of up to four floats of one size has so many; 0:
		       other types */
	bool is_composite; /* a structure or an array */
	bool in_memory;	   /* SYSV: on the stack, whatever its size */
	bool by_reference; /* the caller passes the address of a copy */
};

/* The registers and stack bytes that earlier arguments took. */
struct call_state {
	u32 integers, floats;
	u64 stack;
};

struct call_place {
	s32 registers[CALL_WORDS]; /* index of the argument register of each word; -1: none */
	s64 stack;		   /* bytes from the first argument on the stack; -1: no stack */
	bool is_address;	   /* the place has the address of the argument */
};

/* True if the caller passes the address for a result of this type as the first argument. */
bool call_result_is_argument(enum call_convention convention, const struct call_shape *result);

/* Gives the place of the next argument. */
struct call_place call_next(enum call_convention convention, const struct call_shape *shape,
			    struct call_state *state);

#endif
