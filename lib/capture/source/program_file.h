/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a program or library by the name that the user gives, and the functions of an ELF
 * file. */
#ifndef LIB_CAPTURE_PROGRAM_FILE_H
#define LIB_CAPTURE_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct stackmap_error;

/* The real path of a name: of the path itself if it has a slash, else of a command ($PATH), else of
 * a library (cache of ld.so). 0 or -ENOENT. */
int program_file_find(const char *name, char path[PATH_MAX]);

/* Finds the path of a library by its soname ("libc.so.6") or short name ("libc") in the bytes of a
 * cache of ld.so. 0 or -ENOENT. */
int library_cache_search(const void *cache, size_t bytes, const char *name, char path[PATH_MAX]);

struct program_file {
	int fd;
	u64 bytes;
	bool is_64_bit;
};

/* Opens a program or library for the caller to close. -ENOEXEC: no regular file, or no ELF file. */
int program_file_open(const char *path, struct program_file *out);

/* -EOPNOTSUPP: the kernel would take a probe in the file, and never run it. */
int program_file_check(const struct program_file *file, const char *subject,
		       struct stackmap_error *error);

/* The functions of an ELF file and their file offsets. */

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
