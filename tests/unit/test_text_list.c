/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each text once, whole, and never beyond the list's end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text_list.h"

static void each_is_there_once(void **state)
{
	char list[32] = "";

	(void)state;
	text_list_add(list, sizeof(list), "web12");
	text_list_add(list, sizeof(list), "");
	text_list_add(list, sizeof(list), "web1");
	text_list_add(list, sizeof(list), "b12");
	text_list_add(list, sizeof(list), "web1");
	text_list_add(list, sizeof(list), "web12");
	assert_string_equal(list, "web12, web1, b12");
}

static void what_does_not_fit_is_left_out(void **state)
{
	char list[12] = "";

	(void)state;
	text_list_add(list, sizeof(list), "1234");
	text_list_add(list, sizeof(list), "123456");
	text_list_add(list, sizeof(list), "12345");
	assert_string_equal(list, "1234, 12345");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_there_once),
		cmocka_unit_test(what_does_not_fit_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
