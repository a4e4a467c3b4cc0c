/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command line that a shell takes for the same words. */
#include "command_line.h"

#include <stdlib.h>

#include "unit_test.h"

#define check(words, expected)                                                                     \
	do {                                                                                       \
		char *line_ = command_line_of(words, sizeof(words) - 1);                           \
                                                                                                   \
		assert_string_equal(line_, expected);                                              \
		free(line_);                                                                       \
	} while (0)

TEST(plain_words_are_joined, NULL, NULL)
{
	check("stackmap\0record\0-F\0"
	      "99\0--\0sh\0",
	      "stackmap record -F 99 -- sh");
	check("", "");
}

TEST(words_that_a_shell_would_change_have_quotes, NULL, NULL)
{
	check("a\0sched:*\0x y\0\0$(b)\0", "a 'sched:*' 'x y' '' '$(b)'");
	check("it's\0", "'it'\\''s'");
	check("one\ntwo\0", "'one\ntwo'");
}

/* A process may have overwritten its words: the last one need not end in a NUL. */
TEST(a_last_word_without_an_end, NULL, NULL)
{
	check("a\0b", "a b");
}

int main(void)
{
	return unit_tests_run();
}
