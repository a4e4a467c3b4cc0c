/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A secret is the only line of a file that other users must not be able to read. */
#include "secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit_test.h"

#define LONGEST 4095

static char path[] = "/tmp/stackmap-secret-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const char *bytes, size_t length)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_int_equal(write(fd, bytes, length), length);
	assert_int_equal(close(fd), 0);
}

static void check(const char *bytes, size_t length, const char *expected)
{
	char *secret = NULL;

	put(bytes, length);
	assert_int_equal(secret_file_read(path, &secret, NULL), expected ? 0 : -EINVAL);
	if (expected)
		assert_string_equal(secret, expected);
	secret_free(&secret);
	assert_null(secret);
}

TEST(lines)
{
	char longest[LONGEST + 2];

	check("secret", 6, "secret");
	check("secret\n", 7, "secret");
	check("se cret\r\n", 9, "se cret");
	check("", 0, NULL);
	check("\n", 1, NULL);
	check("a\nb", 3, NULL);
	check("a\n\n", 3, NULL);
	check("a\0b", 3, NULL);
	memset(longest, 'x', sizeof(longest));
	check(longest, LONGEST + 1, NULL);
	longest[LONGEST] = '\0';
	check(longest, LONGEST, longest);
}

TEST(files)
{
	char *secret = (char *)"untouched";

	put("secret", 6);
	assert_int_equal(chmod(path, 0604), 0);
	assert_int_equal(secret_file_read(path, &secret, NULL), -EACCES);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(secret_file_read("/tmp", &secret, NULL), -EISDIR);
	assert_int_equal(secret_file_read("/tmp/stackmap-none/x", &secret, NULL), -ENOENT);
	assert_string_equal(secret, "untouched");
	assert_int_equal(secret_file_read(path, &secret, NULL), 0);
	secret_free(&secret);
}

TEST_GROUP(make_file, remove_file)
