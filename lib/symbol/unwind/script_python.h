/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts that the readers of CPython's versions share. */
#ifndef LIB_SYMBOL_SCRIPT_PYTHON_H
#define LIB_SYMBOL_SCRIPT_PYTHON_H

#include "script_loop.h"

/* Reads where the fields of code objects lie, by the type's list of members: name_member and
 * lines_member are those with the function's name and its line table. False: another type, or a
 * member is missing.
 */
bool script_python_code_type(Elf *elf, u64 type, const char *name_member, const char *lines_member,
			     struct script_layout *layout);

/* The reader of CPython 3.9 and 3.10 (script_python_register.c); `address` is the loop's. */
int script_python_register_read(struct script_loop *loop, u64 address);

#endif
