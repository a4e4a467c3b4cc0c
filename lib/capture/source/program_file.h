/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the file of a program or library by the name that the user gives, and the functions of an
 * ELF file. */
#ifndef LIB_CAPTURE_PROGRAM_FILE_H
#define LIB_CAPTURE_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

struct stackmap_error;

/* Sets `path` to the real path of the file that `name` stands for: a path if it has a slash, else a
 * command in $PATH, else a library in the cache of ld.so. 0 or -ENOENT. */
int program_file_find(const char *name, char path[PATH_MAX]);

/* Finds the path of a library by its soname ("libc.so.6") or short name ("libc") in the bytes of a
 * cache of ld.so. 0 or -ENOENT. */
int library_cache_search(const void *cache, size_t bytes, const char *name, char path[PATH_MAX]);

struct program_file {
	int fd;
	u64 bytes;
	bool is_64_bit;
};

/* Opens a program or library; the caller closes out->fd. -ENOEXEC: not a regular file, or not an
 * ELF file. */
int program_file_open(const char *path, struct program_file *out);

/* Checks that the kernel runs probes in the file. -EOPNOTSUPP: the kernel accepts a probe in this
 * file, but never runs it. */
int program_file_check_probes_can_run(const struct program_file *file, const char *subject,
				      struct stackmap_error *error);

/* The functions of an ELF file and their file offsets. */

struct elf_function {
	const char *name; /* name without the symbol version */
	u64 offset;	  /* file offset of the function */
	bool is_ifunc; /* `offset` is that of the resolver (STT_GNU_IFUNC), which picks a function
			  at load time */
};

/* Callback for one function; a non-zero return ends elf_function_each() and is its result. */
typedef int (*elf_function_visit)(void *arg, const struct elf_function *function);

/* Calls visit() for the functions of .symtab, then those of .dynsym; a name may occur twice.
 * -ENOEXEC: `fd` is not an ELF file. */
int elf_function_each(int fd, elf_function_visit visit, void *arg);

#endif
