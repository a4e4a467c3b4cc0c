/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libiberty tells Rust from C++ by the look of the name; D it must be asked for. Rust's legacy
 * scheme ends every name with a hash, which it leaves out unless DMGL_VERBOSE asks for it. "@plt"
 * is no part of a mangled name, nor is what gcc adds to those of D for copies and parts of a
 * function: it is taken off before, and put back.
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

/* The first `bytes` bytes are the mangled name, what follows is shown as `suffix` says. */
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
