/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libiberty tells Rust from C++ by the look of the name; D it must be asked for. Rust's legacy
 * scheme ends every name with a hash, which it leaves out unless DMGL_VERBOSE asks for it. "@plt"
 * is no part of a mangled name: it is taken off before, and put back.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLT "@plt"

static char *demangle_plain(const char *name)
{
	int style = strncmp(name, "_D", 2) ? DMGL_AUTO : DMGL_DLANG;

	return cplus_demangle(name, style | DMGL_PARAMS | DMGL_ANSI);
}

static char *demangle_stub(const char *name, size_t bytes)
{
	char *target = strndup(name, bytes);
	char *plain = target ? demangle_plain(target) : NULL;
	char *stub;

	if (!plain || asprintf(&stub, "%s" PLT, plain) < 0)
		stub = NULL;
	free(plain);
	free(target);
	return stub;
}

char *demangle(const char *name)
{
	size_t bytes = strlen(name);
	size_t suffix = strlen(PLT);

	if (name[0] != '_')
		return NULL;
	if (bytes > suffix && !strcmp(name + bytes - suffix, PLT))
		return demangle_stub(name, bytes - suffix);
	return demangle_plain(name);
}
