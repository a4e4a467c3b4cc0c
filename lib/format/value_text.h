/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of events for people. Tables for programs (CSV, JSON) have the plain numbers. */
#ifndef LIB_FORMAT_VALUE_TEXT_H
#define LIB_FORMAT_VALUE_TEXT_H

#include "scalar.h"

#define VALUE_TEXT_ROOM 64

/*
 * "79.7 s" for ns, "1.50 MiB" for bytes, with three digits; the number and the unit for any other
 * unit, which may be "".
 */
void value_text(u64 value, const char *unit, char text[VALUE_TEXT_ROOM]);

#endif
