/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts that are borrowed, such as the arguments of a repeated option. */
#ifndef LIB_STRING_LIST_H
#define LIB_STRING_LIST_H

#include <stddef.h>

struct string_list {
	const char **items;
	size_t count, room;
};

#endif
