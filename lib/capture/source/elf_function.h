/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of an ELF file and where they lie in it. */
#ifndef LIB_CAPTURE_ELF_FUNCTION_H
#define LIB_CAPTURE_ELF_FUNCTION_H

#include <stdbool.h>

#include "scalar.h"

struct elf_function {
	const char *name; /* without its symbol version */
	u64 offset;	  /* in the file */
	bool is_ifunc; /* the offset is that of the resolver, which picks the function at load time
			*/
};

/* Gets one function; non-zero ends the walk, which returns it. */
typedef int (*elf_function_visit)(void *arg, const struct elf_function *function);

/* Walks .symtab, then .dynsym: a name may come twice. -ENOEXEC: `fd` is no ELF file. */
int elf_function_each(int fd, elf_function_visit visit, void *arg);

#endif
