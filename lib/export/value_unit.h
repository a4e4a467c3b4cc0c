/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Units of values in the words of pprof and speedscope. */
#ifndef LIB_EXPORT_VALUE_UNIT_H
#define LIB_EXPORT_VALUE_UNIT_H

/* "nanoseconds", "bytes"...; NULL: these formats have no word for the unit. */
const char *value_unit_word(const char *unit);

#endif
