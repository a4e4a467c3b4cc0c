/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A value is written in the largest unit that is not greater than the value. The flame graph page
 * formats its numbers in the same way.
 */
#include "format/value_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "format/printable.h"

static const struct scale {
	u64 least;
	const char *unit;
} times[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {0, "ns"}},
  sizes[] = {
	  {1ULL << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {0, "bytes"}};

void value_text(u64 value, const char *unit, char text[VALUE_TEXT_ROOM])
{
	const struct scale *scale = !strcmp(unit, "ns") ? times : sizes;
	double part;

	if (scale == sizes && strcmp(unit, "bytes")) {
		snprintf(text, VALUE_TEXT_ROOM, "%llu%s%s", (unsigned long long)value,
			 *unit ? " " : "", unit);
		return;
	}
	while (value < scale->least)
		scale++;
	part = scale->least ? (double)value / (double)scale->least : (double)value;
	snprintf(text, VALUE_TEXT_ROOM, "%.*f %s",
		 !scale->least || part >= 99.95 ? 0
		 : part >= 9.995		? 1
						: 2,
		 part, scale->unit);
}

#define BAR_COLUMNS 40
#define NUMBERS_ROOM (10 * VALUE_TEXT_ROOM)
#define RANGE_ROOM (2 * VALUE_TEXT_ROOM + 8)

const struct histogram_percentile histogram_percentiles[HISTOGRAM_PERCENTILES] = {
	{500, "p50"}, {900, "p90"}, {990, "p99"}, {999, "p99.9"}};

/* The name of the unit comes from a recording, which is not trusted. */
static void write_printable_value(u64 value, const char *unit, char text[VALUE_TEXT_ROOM])
{
	value_text(value, unit, text);
	replace_unprintable_bytes(text);
}

static void append_named_value_to_line(char line[NUMBERS_ROOM], const char *name, u64 value,
				       const char *unit)
{
	size_t used = strlen(line);
	char text[VALUE_TEXT_ROOM];

	write_printable_value(value, unit, text);
	snprintf(line + used, NUMBERS_ROOM - used, "  %s %s", name, text);
}

static void write_bucket_range(const struct histogram_bucket *bucket, const char *unit,
			       char text[RANGE_ROOM])
{
	char from[VALUE_TEXT_ROOM], to[VALUE_TEXT_ROOM];
	bool is_one = bucket->to == bucket->from;

	write_printable_value(bucket->from, unit, from);
	write_printable_value(bucket->to, unit, to);
	snprintf(text, RANGE_ROOM, "%s%s%s", from, is_one ? "" : " .. ", is_one ? "" : to);
}

static int write_histogram_bar_lines(const struct distribution *values, enum histogram_scale scale,
				     const char *unit, int (*put)(void *arg, const char *line),
				     void *arg)
{
	static const char bar[BAR_COLUMNS + 1] = "########################################";
	struct histogram_bucket buckets[HISTOGRAM_BUCKETS_MAX];
	u32 count = distribution_histogram(values, scale, buckets);
	char range[RANGE_ROOM], line[RANGE_ROOM + 128];
	size_t width = 0;
	u64 most = 0;
	int result = 0;

	for (u32 i = 0; i < count; i++) {
		write_bucket_range(&buckets[i], unit, range);
		width = strlen(range) > width ? strlen(range) : width;
		most = buckets[i].count > most ? buckets[i].count : most;
	}
	for (u32 i = 0; i < count && !result; i++) {
		u32 length = (u32)((double)buckets[i].count / (double)most * BAR_COLUMNS + 0.5);

		if (!length && buckets[i].count)
			length = 1;
		write_bucket_range(&buckets[i], unit, range);
		snprintf(line, sizeof(line), "%*s  %10llu%s%.*s", (int)width, range,
			 (unsigned long long)buckets[i].count, length ? "  " : "", (int)length,
			 bar);
		result = put(arg, line);
	}
	return result;
}

int histogram_text(const struct distribution *values, enum histogram_scale scale, const char *unit,
		   int (*put)(void *arg, const char *line), void *arg)
{
	char line[NUMBERS_ROOM];

	snprintf(line, NUMBERS_ROOM, "%llu event%s", (unsigned long long)values->count,
		 values->count == 1 ? "" : "s");
	append_named_value_to_line(line, "sum", values->sum, unit);
	append_named_value_to_line(line, "average", values->sum / values->count, unit);
	append_named_value_to_line(line, "min", values->items[0].value, unit);
	for (u32 i = 0; i < HISTOGRAM_PERCENTILES; i++)
		append_named_value_to_line(
			line, histogram_percentiles[i].name,
			distribution_percentile(values, histogram_percentiles[i].permille), unit);
	append_named_value_to_line(line, "max", values->items[values->item_count - 1].value, unit);
	return put(arg, line) ?: write_histogram_bar_lines(values, scale, unit, put, arg);
}
