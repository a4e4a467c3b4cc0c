/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names for people: each mangled name is demangled once and kept. A recording has far more frames,
 * and functions inlined at them, than it has names.
 */
#ifndef LIB_REPORT_DEMANGLE_CACHE_H
#define LIB_REPORT_DEMANGLE_CACHE_H

#include "symbol/demangle/demangler.h"

struct demangle_cache;

int demangle_cache_create(struct demangle_cache **out);
void demangle_cache_free(struct demangle_cache **cache);

/* The name demangled, which lives as long as `cache`; or `mangled` itself, if it is no such name,
 * or if there is no memory. */
const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled);

struct demangle_failures demangle_cache_failures(const struct demangle_cache *cache);
#endif
