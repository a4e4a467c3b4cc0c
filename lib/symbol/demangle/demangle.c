/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libiberty tells Rust from C++ by the form of the name; D needs a flag. Rust's legacy scheme ends
 * each name with a hash, which libiberty leaves out without DMGL_VERBOSE. "@plt" is not part of a
 * mangled name, and neither is the suffix that gcc adds to names of D for copies and parts of a
 * function. Both are cut off before demangling and put back after.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLT "@plt"

static bool is_d(const char *name)
{
	return !strncmp(name, "_D", 2);
}

static char *demangle_plain(const char *name)
{
	int style = is_d(name) ? DMGL_DLANG : DMGL_AUTO;

	return cplus_demangle(name, style | DMGL_PARAMS | DMGL_ANSI);
}

/* Demangles the first `bytes` bytes and appends the rest by the format `suffix`. */
static char *demangle_part(const char *name, size_t bytes, const char *suffix)
{
	char *part = strndup(name, bytes);
	char *plain = part ? demangle_plain(part) : NULL;
	char *text = NULL;

	if (plain && asprintf(&text, suffix, plain, name + bytes) < 0)
		text = NULL;
	free(plain);
	free(part);
	return text;
}

bool demangle_is_mangled(const char *name)
{
	return name[0] == '_';
}

char *demangle(const char *name)
{
	size_t bytes = strlen(name);
	size_t suffix = strlen(PLT);
	const char *clone = is_d(name) ? strchr(name, '.') : NULL;

	if (!demangle_is_mangled(name))
		return NULL;
	if (bytes > suffix && !strcmp(name + bytes - suffix, PLT))
		return demangle_part(name, bytes - suffix, "%s%s");
	if (clone)
		return demangle_part(name, clone - name, "%s [clone %s]");
	return demangle_plain(name);
}
