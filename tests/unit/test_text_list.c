/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Each text is listed once and completely, and no read goes beyond the list's end. */
#include <stdint.h>

#include "text_list.h"
#include "unit_test.h"

TEST(each_text_is_listed_once)
{
	char list[32] = "";

	word_list_add_word(list, sizeof(list), "web12");
	word_list_add_word(list, sizeof(list), "");
	word_list_add_word(list, sizeof(list), "web1");
	word_list_add_word(list, sizeof(list), "b12");
	word_list_add_word(list, sizeof(list), "web1");
	word_list_add_word(list, sizeof(list), "web12");
	assert_string_equal(list, "web12, web1, b12");
}

TEST(texts_without_room_are_left_out)
{
	char list[12] = "";

	word_list_add_word(list, sizeof(list), "1234");
	word_list_add_word(list, sizeof(list), "123456");
	word_list_add_word(list, sizeof(list), "12345");
	assert_string_equal(list, "1234, 12345");
}
