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

/* The value that the dynamic linker writes at the address `word`. */
enum thread_variable_word {
	THREAD_WORD_NONE,
	THREAD_WORD_DISTANCE, /* the variable's distance to the thread pointer */
	/* two words: a function; then the distance to the thread pointer, or the address of
	 * {module, offset} */
	THREAD_WORD_DESCRIPTOR,
	THREAD_WORD_MODULE, /* the number of the module; the variable is at offset `value` in the
			       module's block */
};

struct thread_variable {
	u64 value;    /* offset of the variable in the file's block of thread-local memory */
	s64 distance; /* distance of the variable to the thread pointer, if the file is the program
			 itself */
	u64 word; /* virtual address of the word that the dynamic linker writes; `kind` says what it
		     writes */
	u64 base; /* virtual address at which the file's first byte is mapped */
	u32 kind; /* enum thread_variable_word */
	u32 is_found; /* 0: the file does not define the variable */
};

/* Finds the variable. Returns 0 also if the file does not have it (is_found). -ENOEXEC: not a
 * 64-bit ELF file of this machine. */
int thread_variable_find(Elf *elf, const char *name, struct thread_variable *variable);

#endif
