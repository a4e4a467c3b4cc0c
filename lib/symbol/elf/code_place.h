/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One function that a piece of code belongs to, and where in its source. Code that was inlined
 * belongs to several: the innermost comes first, the last one is the function that was called.
 */
#ifndef LIB_SYMBOL_CODE_PLACE_H
#define LIB_SYMBOL_CODE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

#define CODE_PLACES_MAX 128 /* of one address; deeper inlining is cut at its outer side */
#define CODE_PATH_BYTES 4096

struct code_place {
	const char *function;  /* as the linker knows it: mangled; NULL: it has no name */
	const char *file;      /* NULL: not known */
	const char *directory; /* that a relative file counts from, or NULL */
	const char *base;      /* that a relative directory counts from, or NULL */
	u32 line;	       /* 0: not known */
	bool inlined;
};

/* What is at the place of this index. */
typedef int (*code_place_each)(void *arg, u32 index, const struct code_place *functions, u32 count);

/* Directory and file as one path in path[CODE_PATH_BYTES]: its length, 0 without a file, or if it
 * is too long. */
size_t code_place_path(const struct code_place *place, char *path);

#endif
