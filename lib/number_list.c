/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists are as short as users type them, so they are searched linearly. */
#include "number_list.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "array.h"

static unsigned int shift_of_size_suffix(char letter)
{
	switch (toupper((unsigned char)letter)) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

int number_parse(const char *text, bool suffix, u64 *number)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	unsigned int shift;
	char *end;
	u64 value;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base);
	if (errno)
		return -errno;
	shift = suffix ? shift_of_size_suffix(*end) : 0;
	if (shift)
		end++;
	if (*end)
		return -EINVAL;
	if (value > UINT64_MAX >> shift)
		return -ERANGE;
	*number = value << shift;
	return 0;
}

static int parse_number(const char **text, u64 *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return -errno;
}

static int parse_range(const char **text, struct number_range *range)
{
	int err = parse_number(text, &range->first);

	range->last = range->first;
	if (!err && **text == '-') {
		(*text)++;
		err = parse_number(text, &range->last);
	}
	if (err)
		return err;
	return range->last < range->first ? -EINVAL : 0;
}

int number_list_parse_and_append(struct number_list *list, const char *text, u64 max)
{
	struct number_range range;
	int err;

	do {
		err = parse_range(&text, &range);
		if (!err && range.last > max)
			err = -ERANGE;
		if (!err && *text && *text != ',')
			err = -EINVAL;
		if (!err && array_make_room(list->ranges, list->count, list->room))
			err = -ENOMEM;
		if (!err)
			list->ranges[list->count++] = range;
	} while (!err && *text++ == ',');
	return err;
}

void number_list_clear(struct number_list *list)
{
	free(list->ranges);
	*list = (struct number_list){};
}

bool number_list_has(const struct number_list *list, u64 number)
{
	for (size_t i = 0; i < list->count; i++)
		if (number >= list->ranges[i].first && number <= list->ranges[i].last)
			return true;
	return false;
}

void number_list_set_bits(const struct number_list *list, u64 *mask)
{
	for (size_t i = 0; i < list->count; i++)
		for (u64 bit = list->ranges[i].first; bit <= list->ranges[i].last; bit++)
			mask[bit / 64] |= 1ULL << (bit % 64);
}
