/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Units of values as other tools call them. */
#ifndef LIB_EXPORT_VALUE_UNIT_H
#define LIB_EXPORT_VALUE_UNIT_H

/* "nanoseconds", "bytes"...; NULL for a unit that they have no word for. */
const char *value_unit_word(const char *unit);

#endif
