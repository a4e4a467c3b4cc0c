/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and ranges of numbers, in the form of the kernel's and perf's CPU lists: "0-3,8". */
#ifndef LIB_NUMBER_LIST_H
#define LIB_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

/* Parses a whole text as a number: decimal or 0x..., no sign; with `suffix` also K, M, G (powers of
 * 1024). 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, bool suffix, u64 *number);

struct number_range {
	u64 first, last; /* the range includes both numbers */
};

/* A list of numbers. All zero: empty. */
struct number_list {
	struct number_range *ranges;
	size_t count, room;
};

/*
 * Appends the numbers in `text`, none greater than `max`. -EINVAL: not a list; -ERANGE; -ENOMEM.
 * After an error the list may have become longer.
 */
int number_list_parse_and_append(struct number_list *list, const char *text, u64 max);
void number_list_clear(struct number_list *list);

bool number_list_has(const struct number_list *list, u64 number);

/* Sets the bit of each number in a mask, which must be large enough. */
void number_list_set_bits(const struct number_list *list, u64 *mask);

#endif
