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

#define CODE_PLACES_MAX 128 /* functions of one address; the outermost ones beyond it are cut */
#define CODE_PATH_BYTES 4096

struct code_place {
	const char *function;  /* linkage name, mangled; NULL = no name */
	const char *file;      /* NULL = not known */
	const char *directory; /* a relative file counts from it; or NULL */
	const char *base;      /* a relative directory counts from it; or NULL */
	u32 line;	       /* 0 = not known */
	bool inlined;
};

/* Receives the functions of the address with this index; count 0: not known. */
typedef int (*code_place_each)(void *arg, u32 index, const struct code_place *functions, u32 count);

/* Writes base, directory and file as one path to path[CODE_PATH_BYTES]. The length; 0 without a
 * file, or if the path is too long. */
size_t code_place_path(const struct code_place *place, char *path);

#endif
