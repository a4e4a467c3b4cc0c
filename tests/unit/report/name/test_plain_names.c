/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "report/name/plain_names.h"

static void a_mangled_name_is_demangled_once(void **state)
{
	struct plain_names *names = *state;
	char again[] = "_ZN3foo3barEi";
	const char *plain = plain_names_find(names, "_ZN3foo3barEi");

	assert_string_equal(plain, "foo::bar(int)");
	assert_ptr_equal(plain_names_find(names, again), plain);
}

static void other_names_stay(void **state)
{
	static const char *const others[] = {"main", "", "_init", "_ZN3foo", "malloc@plt"};
	struct plain_names *names = *state;

	for (int times = 0; times < 2; times++)
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			assert_ptr_equal(plain_names_find(names, others[i]), others[i]);
}

static void many_names_keep_their_own(void **state)
{
	struct plain_names *names = *state;
	char mangled[32], plain[32];

	for (int times = 0; times < 2; times++)
		for (int i = 10000; i < 12000; i++) {
			snprintf(mangled, sizeof(mangled), "_Z6f%dv", i);
			snprintf(plain, sizeof(plain), "f%d()", i);
			assert_string_equal(plain_names_find(names, mangled), plain);
		}
}

static int setup(void **state)
{
	return plain_names_create((struct plain_names **)state);
}

static int teardown(void **state)
{
	plain_names_free((struct plain_names **)state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mangled_name_is_demangled_once),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(many_names_keep_their_own),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
