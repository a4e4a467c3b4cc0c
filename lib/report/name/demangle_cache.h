/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Demangled names: each mangled name is demangled once. A recording has far more frames and inlined
 * functions than names.
 */
#ifndef LIB_REPORT_DEMANGLE_CACHE_H
#define LIB_REPORT_DEMANGLE_CACHE_H

#include "symbol/demangle/demangler.h"

struct demangle_cache;

int demangle_cache_create(struct demangle_cache **out);
void demangle_cache_free(struct demangle_cache **cache);

/* The demangled name, which lives as long as `cache`; `mangled` itself if it is not a mangled
 * name, or without memory. */
const char *demangle_cache_find(struct demangle_cache *cache, const char *mangled);

struct demangle_failures demangle_cache_failures(const struct demangle_cache *cache);
#endif
