/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* C++ (Itanium), Rust (legacy and v0) and D names for people; libiberty does the work. */
#ifndef LIB_SYMBOL_DEMANGLE_H
#define LIB_SYMBOL_DEMANGLE_H

#include <stdbool.h>

/* Whether it looks like one. */
bool demangle_is_mangled(const char *name);

/* The demangled name, or NULL if `name` is not mangled. The caller frees it. Of hostile names
 * neither time nor memory are bounded: symbol/demangle/demangler.h. */
char *demangle(const char *name);

#endif
