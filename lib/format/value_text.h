/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of events as people read them. Tables for programs (CSV, JSON) have the numbers
 * themselves. */
#ifndef LIB_FORMAT_VALUE_TEXT_H
#define LIB_FORMAT_VALUE_TEXT_H

#include "scalar.h"

#define VALUE_TEXT_ROOM 64

/* "79.7 s" of ns, "1.50 MiB" of bytes: three digits; the number in any other unit, of which a
 * source may have "". */
void value_text(u64 value, const char *unit, char text[VALUE_TEXT_ROOM]);

#endif
