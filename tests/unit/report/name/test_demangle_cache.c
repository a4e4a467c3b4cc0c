/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>

#include "report/name/frame_names.h"
#include "unit_test.h"

TEST(a_mangled_name_is_demangled_once)
{
	struct demangle_cache *names = *state;
	char again[] = "_ZN3foo3barEi";
	const char *plain = demangle_cache_find(names, "_ZN3foo3barEi");

	assert_string_equal(plain, "foo::bar(int)");
	assert_ptr_equal(demangle_cache_find(names, again), plain);
}

TEST(names_that_are_not_mangled_are_unchanged)
{
	static const char *const others[] = {"main", "", "_init", "_ZN3foo", "malloc@plt"};
	struct demangle_cache *names = *state;

	for (int times = 0; times < 2; times++)
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			assert_ptr_equal(demangle_cache_find(names, others[i]), others[i]);
}

TEST(many_names_do_not_mix)
{
	struct demangle_cache *names = *state;
	char mangled[32], plain[32];

	for (int times = 0; times < 2; times++)
		for (int i = 10000; i < 12000; i++) {
			snprintf(mangled, sizeof(mangled), "_Z6f%dv", i);
			snprintf(plain, sizeof(plain), "f%d()", i);
			assert_string_equal(demangle_cache_find(names, mangled), plain);
		}
}

static int setup(void **state)
{
	return demangle_cache_create((struct demangle_cache **)state);
}

static int teardown(void **state)
{
	demangle_cache_free((struct demangle_cache **)state);
	return 0;
}

TEST_GROUP(setup, teardown)
