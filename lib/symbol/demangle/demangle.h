/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Demangles C++ (Itanium), Rust (legacy and v0) and D names with libiberty. */
#ifndef LIB_SYMBOL_DEMANGLE_H
#define LIB_SYMBOL_DEMANGLE_H

#include <stdbool.h>

/* True if the name has the form of a mangled name. */
bool demangle_is_mangled(const char *name);

/* The demangled name, for the caller to free; NULL: `name` is not mangled. A hostile name may take
 * any time and memory: symbol/demangle/demangler.h bounds both. */
char *demangle(const char *name);

#endif
