/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The largest unit of which there is at least one. The flame graph page formats its numbers in the
 * same way.
 */
#include "format/value_text.h"

#include <stdio.h>
#include <string.h>

struct scale {
	u64 least;
	const char *unit;
};

static const struct scale times[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {0, "ns"}};
static const struct scale sizes[] = {
	{1ULL << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {0, "bytes"}};

static void scaled(u64 value, const struct scale *scale, char text[VALUE_TEXT_ROOM])
{
	double part;

	while (value < scale->least)
		scale++;
	part = scale->least ? (double)value / (double)scale->least : (double)value;
	snprintf(text, VALUE_TEXT_ROOM, "%.*f %s",
		 !scale->least || part >= 99.95 ? 0
		 : part >= 9.995		? 1
						: 2,
		 part, scale->unit);
}

void value_text(u64 value, const char *unit, char text[VALUE_TEXT_ROOM])
{
	if (!strcmp(unit, "ns"))
		scaled(value, times, text);
	else if (!strcmp(unit, "bytes"))
		scaled(value, sizes, text);
	else
		snprintf(text, VALUE_TEXT_ROOM, "%llu%s%s", (unsigned long long)value,
			 *unit ? " " : "", unit);
}
