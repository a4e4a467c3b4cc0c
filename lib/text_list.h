/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Texts of many recordings as one list for people: "a, b, c". */
#ifndef LIB_TEXT_LIST_H
#define LIB_TEXT_LIST_H

#include <stddef.h>

/* Adds a text, unless it is empty, in the list already, or does not fit into the list's `bytes`. */
void word_list_add_word(char *list, size_t bytes, const char *text);

#endif
