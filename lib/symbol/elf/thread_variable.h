/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds a thread-local variable of a program or library by its name in .dynsym: the offset in the
 * file's block of thread-local memory, and the word that the dynamic linker fills in so that code
 * can find a thread's block (ELF Handling For Thread-Local Storage; System V ABI, TLS descriptors).
 *
 * The file may hold any bytes.
 */
#ifndef LIB_SYMBOL_THREAD_VARIABLE_H
#define LIB_SYMBOL_THREAD_VARIABLE_H

#include <libelf.h>
#include <stdbool.h>

#include "scalar.h"

/* The dynamic linker writes this at `word`. */
enum thread_variable_word {
	THREAD_WORD_NONE,
	THREAD_WORD_DISTANCE, /* the variable's distance to the thread pointer */
	/* two words: a function; a distance, or the address of {module, offset} */
	THREAD_WORD_DESCRIPTOR,
	THREAD_WORD_MODULE, /* the number of the module; `value` is the offset in its block */
};

struct thread_variable {
	u64 value;    /* offset in the file's block */
	s64 distance; /* to the thread pointer if the file is the program itself */
	u64 word;     /* virtual address; see `kind` */
	u64 base;     /* virtual address of the file's first byte */
	u32 kind;     /* enum thread_variable_word */
	u32 is_found; /* 0: the file does not define the variable */
};

/* 0; also without the variable. -ENOEXEC: not a 64-bit ELF file of this machine. */
int thread_variable_find(Elf *elf, const char *name, struct thread_variable *variable);

#endif
