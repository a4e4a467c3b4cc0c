/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers and ranges of them, as the kernel and perf write lists of CPUs: "0-3,8". */
#ifndef LIB_NUMBER_LIST_H
#define LIB_NUMBER_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "scalar.h"

/* Parses a whole text as a number: decimal or 0x..., no sign; with `suffix` also K, M, G (powers of
 * 1024). 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, bool suffix, u64 *number);

struct number_range {
	u64 first, last; /* both included */
};

/* All zero: empty. */
struct number_list {
	struct number_range *ranges;
	size_t count, room;
};

/* Appends the numbers in `text`, none greater than `max`. -EINVAL: not a list; -ERANGE; -ENOMEM.
 * The list is then as before, or longer. */
int number_list_add(struct number_list *list, const char *text, u64 max);
void number_list_clear(struct number_list *list);

bool number_list_has(const struct number_list *list, u64 number);

/* Sets the bits of all its numbers, which the mask must have. */
void number_list_set_bits(const struct number_list *list, u64 *mask);

#endif
