/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* At least one example of each class of characters that are not shown, and of those that are. */
#include "format/printable.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit_test.h"

static void check(const char *text, const char *shown)
{
	char *written, *made = strdup(text);
	size_t bytes;
	FILE *stream = open_memstream(&written, &bytes);

	printable_put(text, stream);
	fclose(stream);
	assert_string_equal(written, shown);
	replace_unprintable_bytes(made);
	assert_string_equal(made, shown);
	assert_int_equal(is_text_printable(text), !strcmp(text, shown));
	free(written);
	free(made);
}

TEST(text_of_all_languages_is_shown)
{
	check("", "");
	check("std::map<int, long>::at(int const&)", "std::map<int, long>::at(int const&)");
	check("\u00a0\u00e9\u0416\u05d0\u0628\u0e01\u3042\u8a9e\ud55c\U0001f600",
	      "\u00a0\u00e9\u0416\u05d0\u0628\u0e01\u3042\u8a9e\ud55c\U0001f600");
	check("\u00ac\u00ae\u200a\u2010\u2027\u202f\u205f\u2070\U0010ffff",
	      "\u00ac\u00ae\u200a\u2010\u2027\u202f\u205f\u2070\U0010ffff");
}

TEST(shown_and_hidden_characters_may_alternate)
{
	check("a\033b", "a?b");
	check("\033ab\177", "?ab?");
	check("\u00e9a\u00e9 ~\u00e9", "\u00e9a\u00e9 ~\u00e9");
	check("ab\xff", "ab?");
}

TEST(control_characters_are_replaced)
{
	char text[] = "a?b";

	for (int c = 1; c < ' '; c++) {
		text[1] = (char)c;
		check(text, "a?b");
	}
	check("\033[31m\177", "?[31m?");
	check("\xc2\x80\xc2\x9b"
	      "31m\xc2\x9f",
	      "??31m?");
}

TEST(invisible_characters_are_replaced)
{
	check("\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200d\u200e\u200f", "??????????");
	check("\u2028\u2029\u202a\u202b\u202c\u202d\u202e", "???????");
	check("\u2060\u2066\u2067\u2068\u2069\u206f\u3164\ufe0f\ufeff\uffa0\ufff9", "???????????");
	check("\U000e0001\U000e007f\U0001d173\U0001bca0", "????");
	check("nimda\u202egpj.exe", "nimda?gpj.exe");
}

/* Each invalid byte counts alone, and the next character is complete. */
TEST(invalid_bytes_are_replaced)
{
	check("\x9b\x33\x31m", "?31m");
	check("\xff\xfe\x80", "???");
	check("\xc3", "?");
	check("\xc3(", "?(");
	check("\xe2\x80", "??");
	check("\xe2\x80\xc3\xa9", "??\u00e9");
	check("\xf0\x9f\x98", "???");
	check("\xc0\x9b", "??"); /* an overlong form */
	check("\xe0\x82\x9b", "???");
	check("\xf0\x80\x82\x9b", "????");
	check("\xed\xa0\x80", "???");	   /* a surrogate */
	check("\xf4\x90\x80\x80", "????"); /* beyond the last character */
	check("\xf8\x88\x80\x80\x80", "?????");
}

TEST(a_character_tells_its_length)
{
	u32 bytes;

	assert_int_equal(classify_next_character("ab", &bytes), PRINTABLE);
	assert_int_equal(bytes, 1);
	assert_int_equal(classify_next_character("\u8a9e", &bytes), PRINTABLE);
	assert_int_equal(bytes, 3);
	assert_int_equal(classify_next_character("\u202e", &bytes), UNPRINTABLE);
	assert_int_equal(bytes, 3);
	assert_int_equal(classify_next_character("\xe2\x80", &bytes), NO_CHARACTER);
	assert_int_equal(bytes, 1);
}

static void check_cut(const char *text, size_t most, const char *shown)
{
	char *made;
	size_t bytes;
	FILE *to = open_memstream(&made, &bytes);

	assert_non_null(to);
	printable_put_cut(text, most, to);
	assert_int_equal(fclose(to), 0);
	assert_string_equal(made, shown);
	free(made);
}

TEST(a_long_text_loses_its_middle)
{
	check_cut("0123456789", 0, "0123456789");
	check_cut("0123456789", 10, "0123456789");
	check_cut("0123456789", 9, "012...789");
	check_cut("0123456789", 8, "012...89");
	check_cut("", 8, "");
	check_cut("\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e\x1b\u00e9z", 9,
		  "\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e?\u00e9z");
	check_cut("\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e\u8a9e\x1b\u00e9z", 8,
		  "\u8a9e\u8a9e\u8a9e...\u00e9z");
	assert_int_equal(printable_count("\u8a9e\x1b\xff"
					 "a"),
			 4);
}
