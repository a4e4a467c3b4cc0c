/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads hexadecimal digits, two for each byte. */
#ifndef HEX_H
#define HEX_H

#include <stdbool.h>

#include "scalar.h"

/* Returns the value of a hexadecimal digit, 0 to 15; -1: another character. */
static inline int hex_value(char letter)
{
	if (letter >= '0' && letter <= '9')
		return letter - '0';
	letter |= 0x20;
	return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/*
 * Reads up to `count` bytes from `text`, which ends with a NUL or at `count` pairs of digits.
 * Returns the number of bytes before the first invalid pair.
 */
static inline u32 hex_bytes(const char *text, u8 *bytes, u32 count)
{
	u32 read = 0;

	while (read < count && hex_value(text[0]) >= 0 && hex_value(text[1]) >= 0) {
		bytes[read++] = (u8)(hex_value(text[0]) << 4 | hex_value(text[1]));
		text += 2;
	}
	return read;
}

#endif
