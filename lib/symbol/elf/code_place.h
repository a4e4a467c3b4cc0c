/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A function that a piece of code belongs to, and the line of its source. Inlined code belongs to
 * several functions: the innermost comes first, the function that was called comes last.
 */
#ifndef LIB_SYMBOL_CODE_PLACE_H
#define LIB_SYMBOL_CODE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

/* The most functions of one address; if there are more, the outermost ones are left out. */
#define CODE_PLACES_MAX 128
#define CODE_PATH_BYTES 4096

struct code_place {
	const char *function;  /* linkage name of the function, mangled; NULL = no name */
	const char *file;      /* source file; NULL = not known */
	const char *directory; /* the directory that a relative file counts from; or NULL */
	const char *base;      /* the directory that a relative directory counts from; or NULL */
	u32 line;	       /* line of the source; 0 = not known */
	bool inlined;
};

/* Called with the functions at the address with this index; count 0: no function is known. */
typedef int (*code_place_each)(void *arg, u32 index, const struct code_place *functions, u32 count);

/* Writes base, directory and file as one path to path[CODE_PATH_BYTES]. Returns the length; 0: no
 * file is known, or the path is too long. */
size_t code_place_path(const struct code_place *place, char *path);

#endif
