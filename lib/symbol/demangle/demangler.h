/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Demangled names in bounded time and memory. Symbols are not trusted: there are names of a
 * hundred bytes for which a demangler would run forever, or use all memory. Names that may be of
 * this kind are demangled in a sandbox with a time limit.
 */
#ifndef LIB_SYMBOL_DEMANGLER_H
#define LIB_SYMBOL_DEMANGLER_H

#include <stdbool.h>

#include "scalar.h"

/* Demangles C++ (Itanium), Rust (legacy and v0) and D names with libiberty. */

/* True if the name has the form of a mangled name. */
bool demangle_is_mangled(const char *name);

/* The demangled name, for the caller to free; NULL: `name` is not mangled. A hostile name may take
 * any time and memory; demangler_demangle_name() bounds both. */
char *demangle(const char *name);

struct demangler;

/* Names that stay mangled because they take too much time or memory, or because the sandbox does
 * not start. */
struct demangle_failures {
	u64 count;
	const char *reason; /* why the first of these names stays mangled, as
			       sandbox_reason_of_failure() gives it */
};

int demangler_create(struct demangler **out);
void demangler_free(struct demangler **demangler);

/* Returns the demangled name, for the caller to free. NULL: `name` is not mangled, or the failure
 * was counted (demangler_failures()).
 */
char *demangler_demangle_name(struct demangler *demangler, const char *name);

struct demangle_failures demangler_failures(const struct demangler *demangler);

#endif
