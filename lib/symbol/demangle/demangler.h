/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Demangled names at a bounded price: symbols are made by others, and there are names of a hundred
 * bytes that take a demangler until the end of time, or all memory. Names that could are left to a
 * sandbox with a time limit.
 */
#ifndef LIB_SYMBOL_DEMANGLER_H
#define LIB_SYMBOL_DEMANGLER_H

struct demangler;

int demangler_create(struct demangler **out);
void demangler_free(struct demangler **demangler);

/* The demangled name, or NULL: `name` is not mangled, or too much work. The caller frees it. */
char *demangler_name(struct demangler *demangler, const char *name);

#endif
