/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values as text for people, at the limits of each unit and of rounding. */
#include <stdint.h>

#include "format/value_text.h"
#include "unit_test.h"

static void check(u64 value, const char *unit, const char *wanted)
{
	char text[VALUE_TEXT_ROOM];

	value_text(value, unit, text);
	assert_string_equal(text, wanted);
}

TEST(times)
{
	check(0, "ns", "0 ns");
	check(999, "ns", "999 ns");
	check(1000, "ns", "1.00 us");
	check(9994, "ns", "9.99 us");
	check(9996, "ns", "10.0 us");
	check(99960, "ns", "100 us");
	check(1500000, "ns", "1.50 ms");
	check(79685783933, "ns", "79.7 s");
	check(7968578393312, "ns", "7969 s");
	check(UINT64_MAX, "ns", "18446744074 s");
}

TEST(sizes)
{
	check(30, "bytes", "30 bytes");
	check(1023, "bytes", "1023 bytes");
	check(1024, "bytes", "1.00 KiB");
	check(100000, "bytes", "97.7 KiB");
	check(3UL << 40, "bytes", "3.00 TiB");
}

TEST(others)
{
	check(1257000000, "points", "1257000000 points");
	check(18, "", "18");
	check(5, "us", "5 us");
}
