/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libiberty tries Rust, C++ and D by the look of the name. Rust's legacy scheme ends every name
 * with a hash, which without DMGL_VERBOSE is not shown.
 */
#include "demangle.h"

#include <libiberty/demangle.h>

char *demangle(const char *name)
{
	return cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}
