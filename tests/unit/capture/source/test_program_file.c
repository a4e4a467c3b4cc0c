/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file of a name: a path, a command, a library. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/source/program_file.h"
#include "unit_test.h"

static char directory[64], command[80], text[80], search[160];

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/stackmap-path-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(command, sizeof(command), "%s/command", directory);
	snprintf(text, sizeof(text), "%s/text", directory);
	snprintf(search, sizeof(search), "/nosuch::%s", directory);
	close(open(command, O_CREAT | O_WRONLY, 0700));
	close(open(text, O_CREAT | O_WRONLY, 0600));
	return setenv("PATH", search, 1);
}

static int teardown(void **state)
{
	(void)state;
	unlink(command);
	unlink(text);
	return rmdir(directory);
}

TEST(a_command_is_found_along_the_path)
{
	char path[PATH_MAX];

	assert_int_equal(program_file_find("command", path), 0);
	assert_string_equal(path, command);
}

TEST(a_file_that_cannot_be_run_is_no_command)
{
	char path[PATH_MAX];

	assert_int_equal(program_file_find("text", path), -ENOENT);
}

TEST(a_path_is_made_real)
{
	char path[PATH_MAX], crooked[200];

	snprintf(crooked, sizeof(crooked), "%s/../%s/./text", directory, strrchr(directory, '/'));
	assert_int_equal(program_file_find(crooked, path), 0);
	assert_string_equal(path, text);
	assert_int_equal(program_file_find("/nosuch/file", path), -ENOENT);
}

TEST_GROUP(setup, teardown)
