/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unit names of pprof, OTLP and speedscope. */
#include "value_unit.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *unit, *word;
} words[] = {
	{"ns", "nanoseconds"}, {"us", "microseconds"}, {"ms", "milliseconds"},
	{"s", "seconds"},      {"bytes", "bytes"},
};

const char *value_unit_word(const char *unit)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(unit, words[i].unit) == 0)
			return words[i].word;
	return NULL;
}
