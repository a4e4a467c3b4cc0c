/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files without a size, empty files, and paths that are no regular files. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/file/whole_file.h"
#include "unit_test.h"

TEST(a_file_larger_than_one_read)
{
	const size_t size = (3 << 20) + 1;
	int fd = memfd_create("large", MFD_CLOEXEC);
	char path[64], *expected = malloc(size), *text;
	size_t bytes;

	assert_non_null(expected);
	for (size_t i = 0; i < size; i++)
		expected[i] = i * 31 >> 3;
	assert_int_equal(write(fd, expected, size), size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(whole_file_read(path, &text, &bytes), 0);
	assert_int_equal(bytes, size);
	assert_memory_equal(text, expected, size);
	assert_int_equal(text[size], 0);
	free(text);
	free(expected);
	close(fd);
}

TEST(a_file_without_positions_is_read_as_it_comes)
{
	int ends[2];
	char *text;
	size_t bytes;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "first, ", 7), 7);
	assert_int_equal(write(ends[1], "second", 6), 6);
	close(ends[1]);
	assert_int_equal(whole_file_read_open(ends[0], &text, &bytes), 0);
	assert_string_equal(text, "first, second");
	assert_int_equal(bytes, 13);
	free(text);
	close(ends[0]);
}

/* A read may end anywhere, also inside the mark. */
TEST(reading_ends_at_a_mark)
{
	static char expected[1 << 20];
	int fd = memfd_create("marked", MFD_CLOEXEC);
	char path[64], *text;
	size_t bytes;

	memset(expected, 'x', sizeof(expected));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t at = 0; at < 131200;
	     at += at < 65500 || (at > 65600 && at < 131000) ? 991 : 1) {
		memcpy(expected + at, "mark", 4);
		assert_int_equal(pwrite(fd, expected, sizeof(expected), 0), sizeof(expected));
		assert_int_equal(whole_file_read_until(path, "mark", &text, &bytes), 0);
		assert_in_range(bytes, at + 4, sizeof(expected) - 1);
		assert_memory_equal(text, expected, bytes);
		assert_int_equal(text[bytes], 0);
		free(text);
		memset(expected + at, 'x', 4);
	}
	assert_int_equal(pwrite(fd, expected, sizeof(expected), 0), sizeof(expected));
	assert_int_equal(whole_file_read_until(path, "mark", &text, &bytes), 0);
	assert_int_equal(bytes, sizeof(expected));
	free(text);
	close(fd);
}

TEST(an_empty_file_is_an_empty_text)
{
	char *text;
	size_t bytes;

	assert_int_equal(whole_file_read("/dev/null", &text, &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_string_equal(text, "");
	free(text);
}

TEST(failures_leave_results_unchanged)
{
	char *text = (char *)state;
	size_t bytes = 7;

	assert_int_equal(whole_file_read("/proc/no such file", &text, &bytes), -ENOENT);
	assert_int_equal(whole_file_read("/", &text, &bytes), -EISDIR);
	assert_int_equal(whole_file_read("/dev/zero", &text, &bytes), -EFBIG);
	assert_ptr_equal(text, state);
	assert_int_equal(bytes, 7);
}
