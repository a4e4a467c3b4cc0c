/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions of an ELF file and their file offsets. */
#ifndef LIB_CAPTURE_ELF_FUNCTION_H
#define LIB_CAPTURE_ELF_FUNCTION_H

#include <stdbool.h>

#include "scalar.h"

struct elf_function {
	const char *name; /* without its symbol version */
	u64 offset;	  /* file offset */
	bool is_ifunc; /* the offset is that of the resolver, which picks a function at load time */
};

/* Receives one function; a non-zero return ends the walk and is its result. */
typedef int (*elf_function_visit)(void *arg, const struct elf_function *function);

/* Walks .symtab, then .dynsym; a name may occur twice. -ENOEXEC: `fd` is not an ELF file. */
int elf_function_each(int fd, elf_function_visit visit, void *arg);

#endif
