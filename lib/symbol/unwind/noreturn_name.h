/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of the C and C++ runtimes that never return, by name. */
#ifndef LIB_SYMBOL_NORETURN_NAME_H
#define LIB_SYMBOL_NORETURN_NAME_H

#include <stdbool.h>

bool noreturn_name(const char *name);

#endif
