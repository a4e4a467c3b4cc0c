/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of --rotate, and the files after each step. */
#include "session/rotation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

static char folder[32];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/stackmap-rotation-XXXXXX");
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return system("rm -r \"$PWD\"");
}

static void touch(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

TEST(words_are_times_or_sizes)
{
	static const struct {
		const char *word;
		u64 period_ms, bytes;
	} words[] = {{"1s", 1000, 0},		{"10min", 600000, 0}, {"2h", 7200000, 0},
		     {"100M", 0, 100ULL << 20}, {"5000", 0, 5000},    {NULL, 0, 0}};
	static const char *const wrong[] = {"5x",  "0s",	   "s", "0", "1.5s",
					    "-1s", "99999999999s", ""};
	struct rotation rotation;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		assert_int_equal(rotation_parse_option(words[i].word, 0, "f", &rotation, NULL), 0);
		assert_int_equal(rotation.period_ms, words[i].period_ms);
		assert_int_equal(rotation.bytes, words[i].bytes);
		assert_int_equal(rotation_is_on(&rotation), words[i].word != NULL);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(rotation_parse_option(wrong[i], 0, "f", &rotation, NULL), -EINVAL);
}

TEST(a_file_is_due_by_time_or_by_size)
{
	const struct rotation by_time = {.period_ms = 1000, .end_ms = 5000};
	const struct rotation by_size = {.bytes = 100};

	assert_false(rotation_is_due(&by_time, 4999, UINT64_MAX));
	assert_true(rotation_is_due(&by_time, 5000, 0));
	assert_false(rotation_is_due(&by_size, UINT64_MAX, 99));
	assert_true(rotation_is_due(&by_size, 0, 100));
}

static void assert_next(struct rotation *rotation, const char *expected, const char *error_word)
{
	struct stackmap_error error;
	char *path = rotation_name_next_and_remove_oldest(rotation, 1000, &error);

	assert_string_equal(path, expected);
	assert_int_equal(error.message[0] != 0, error_word != NULL);
	if (error_word)
		assert_non_null(strstr(error.message, error_word));
	free(path);
}

/* Files of other names, and names that look like a pattern, do not count. */
TEST(numbers_go_on_and_the_oldest_files_go, make_folder, remove_folder)
{
	struct rotation rotation = {.period_ms = 1000, .keep = 2, .output = "w[1]*"};

	touch("w[1]*.0007");
	touch("w[1]*.0008");
	touch("w[1]*.0008.old");
	touch("w1.0009");
	assert_next(&rotation, "w[1]*.0009", NULL);
	assert_int_equal(rotation.end_ms, 2000);
	assert_int_equal(access("w[1]*.0007", F_OK), -1);
	assert_int_equal(access("w[1]*.0008", F_OK), 0);
	assert_int_equal(access("w[1]*.0008.old", F_OK), 0);
	assert_int_equal(access("w1.0009", F_OK), 0);
	assert_next(&rotation, "w[1]*.0010", NULL);
}

TEST(a_file_that_cannot_be_removed_is_an_error_beside_the_name, make_folder, remove_folder)
{
	struct rotation rotation = {.keep = 1, .output = "d"};

	assert_int_equal(mkdir("d.0001", 0700), 0);
	assert_next(&rotation, "d.0002", "d.0001: Is a directory");
}
